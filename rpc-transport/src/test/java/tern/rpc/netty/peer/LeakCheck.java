package tern.rpc.netty.peer;

import io.netty.buffer.ByteBufAllocator;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetectorFactory;
import io.netty.util.ResourceLeakTracker;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails a test class that leaked a Netty buffer. The check is registered for every test class of this module, because
 * Netty reads the settings of its leak detector when its first buffer class is loaded.
 */
public final class LeakCheck implements BeforeAllCallback, AfterAllCallback {

    private static final BlockingQueue<String> LEAKS = new LinkedBlockingQueue<>();

    /** Counts the buffers that the current test class has allocated and not released. */
    private static volatile AtomicInteger open = new AtomicInteger();

    /**
     * True if there were unreleased buffers at the end of the last test class. If one of these buffers becomes
     * unreachable later, the check of the next class reports the leak.
     */
    private static volatile boolean isAnyOpen;

    static {
        ResourceLeakDetectorFactory.setResourceLeakDetectorFactory(new Detectors());
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        if (!isInner(context)) {
            begin();
        }
    }

    static void begin() {
        LEAKS.clear();
        open = new AtomicInteger();
    }

    private static boolean isInner(ExtensionContext context) {
        return context.getTestClass().map(Class::isMemberClass).orElse(false);
    }

    /** Returns the number of buffers that have been allocated since {@link #begin} and are not released. */
    static int open() {
        return open.get();
    }

    @Override
    public void afterAll(ExtensionContext context) {
        if (isInner(context)) {
            return; // the check runs after the enclosing test class
        }
        if (!ResourceLeakDetector.isEnabled()) {
            return; // leak detection was turned off on the command line, because it would distort time measurements
        }
        if (!ResourceLeakDetector.getLevel().equals(ResourceLeakDetector.Level.PARANOID)) {
            throw new AssertionError("leak detection is " + ResourceLeakDetector.getLevel() + ", not paranoid");
        }
        boolean wasAnyOpen = isAnyOpen;
        isAnyOpen = open() > 0;
        if (!isAnyOpen && !wasAnyOpen) {
            return; // every buffer was released, so the garbage collector would find no leak
        }
        List<String> leaks = found();
        if (!leaks.isEmpty()) {
            throw new AssertionError(leaks.size()
                    + " buffers were lost (-Dsurefire.leak-records=20 shows where they were used),"
                    + " the first of them: " + leaks.get(0));
        }
    }

    /** Returns the leaked buffers detected since the last call to this method. */
    static List<String> found() {
        for (int i = 0; i < 3; i++) {
            collectGarbage();
            // the leak detector reports leaks only when a buffer is allocated
            ByteBufAllocator.DEFAULT.directBuffer(1).release();
            ByteBufAllocator.DEFAULT.heapBuffer(1).release();
        }
        List<String> leaks = new ArrayList<>();
        LEAKS.drainTo(leaks);
        return leaks;
    }

    /** Runs the garbage collector until all references to unreachable objects have been enqueued. */
    private static void collectGarbage() {
        ReferenceQueue<Object> queue = new ReferenceQueue<>();
        WeakReference<Object> sentinel = new WeakReference<>(new Object(), queue);
        Await.until("the garbage collector ran", () -> {
            System.gc();
            return isEnqueued(sentinel, queue);
        });
    }

    /**
     * Waits for the reference, for at most a second. A thread of the JVM enqueues references a moment after they have
     * been cleared. Without this wait, a check would find no reference and run the garbage collector again.
     */
    private static boolean isEnqueued(WeakReference<Object> reference, ReferenceQueue<Object> queue) {
        try {
            return queue.remove(1_000) == reference;
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static final class Detectors extends ResourceLeakDetectorFactory {
        @Override
        @Deprecated
        @SuppressWarnings("deprecation")
        public <T> ResourceLeakDetector<T> newResourceLeakDetector(
                Class<T> resource, int samplingInterval, long maxActive) {
            return new Detector<>(resource, samplingInterval);
        }
    }

    private static final class Detector<T> extends ResourceLeakDetector<T> {
        @SuppressWarnings("deprecation")
        Detector(Class<T> resource, int samplingInterval) {
            super(resource, samplingInterval);
        }

        @Override
        public @Nullable ResourceLeakTracker<T> track(T resource) {
            return counted(super.track(resource));
        }

        @Override
        public @Nullable ResourceLeakTracker<T> trackForcibly(T resource) {
            return counted(super.trackForcibly(resource));
        }

        private static <T> @Nullable ResourceLeakTracker<T> counted(@Nullable ResourceLeakTracker<T> tracker) {
            return tracker == null ? null : new Counted<>(tracker, open);
        }

        @Override
        protected boolean needReport() {
            return true;
        }

        @Override
        protected void reportTracedLeak(String resourceType, String records) {
            if (!isOfDubbo(records)) {
                LEAKS.add(resourceType + records);
            }
        }

        /** Returns the name of the thread. A leak report contains this name if the thread allocated the buffer. */
        @Override
        protected Object getInitialHint(String resourceType) {
            return Thread.currentThread().getName();
        }

        /**
         * Returns whether Dubbo leaked the buffer. Dubbo's Triple providers leak the messages of refused requests. Only
         * Dubbo uses Netty's frame logger and threads with this name, so reports that contain one of them belong to
         * Dubbo.
         */
        private static boolean isOfDubbo(String records) {
            return records.contains("org.apache.dubbo.")
                    || records.contains("Http2InboundFrameLogger")
                    || records.contains("NettyServerWorker");
        }

        @Override
        protected void reportUntracedLeak(String resourceType) {
            LEAKS.add(resourceType);
        }
    }

    /** Counts a resource until it is released. */
    private static final class Counted<T> implements ResourceLeakTracker<T> {

        private final ResourceLeakTracker<T> tracker;
        private final AtomicInteger open;

        Counted(ResourceLeakTracker<T> tracker, AtomicInteger open) {
            this.tracker = tracker;
            this.open = open;
            open.incrementAndGet();
        }

        @Override
        public void record() {
            tracker.record();
        }

        @Override
        public void record(Object hint) {
            tracker.record(hint);
        }

        @Override
        public boolean close(T resource) {
            boolean isFirst = tracker.close(resource);
            if (isFirst) {
                open.decrementAndGet();
            }
            return isFirst;
        }

        @Override
        public @Nullable Throwable getCloseStackTraceIfAny() {
            return tracker.getCloseStackTraceIfAny();
        }
    }
}
