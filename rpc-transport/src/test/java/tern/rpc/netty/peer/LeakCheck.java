package tern.rpc.netty.peer;

import io.netty.buffer.ByteBufAllocator;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetectorFactory;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails a test class in which a Netty buffer was lost. Registered for every test class of this module, since Netty asks
 * for its leak detector when its first buffer class is loaded.
 */
public final class LeakCheck implements BeforeAllCallback, AfterAllCallback {

    private static final BlockingQueue<String> LEAKS = new LinkedBlockingQueue<>();

    static {
        ResourceLeakDetectorFactory.setResourceLeakDetectorFactory(new Detectors());
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        LEAKS.clear();
    }

    @Override
    public void afterAll(ExtensionContext context) {
        if (context.getTestClass().map(Class::isMemberClass).orElse(false)) {
            return; // the class around it looks
        }
        if (!ResourceLeakDetector.isEnabled()) {
            return; // turned off on the command line, to measure time
        }
        if (!ResourceLeakDetector.getLevel().equals(ResourceLeakDetector.Level.PARANOID)) {
            throw new AssertionError("leak detection is " + ResourceLeakDetector.getLevel() + ", not paranoid");
        }
        List<String> leaks = found();
        if (!leaks.isEmpty()) {
            throw new AssertionError(leaks.size() + " buffers were lost, the first of them: " + leaks.get(0));
        }
    }

    /** What was lost since the last look. */
    static List<String> found() {
        for (int i = 0; i < 3; i++) {
            collectGarbage();
            ByteBufAllocator.DEFAULT.directBuffer(1).release(); // the detector reports when a buffer is made
            ByteBufAllocator.DEFAULT.heapBuffer(1).release();
        }
        List<String> leaks = new ArrayList<>();
        LEAKS.drainTo(leaks);
        return leaks;
    }

    /** Until what was not reachable before has surely been enqueued. */
    private static void collectGarbage() {
        ReferenceQueue<Object> queue = new ReferenceQueue<>();
        WeakReference<Object> sentinel = new WeakReference<>(new Object(), queue);
        Await.until("the garbage collector ran", () -> {
            System.gc();
            return sentinel.refersTo(null) && queue.poll() != null;
        });
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
        protected boolean needReport() {
            return true;
        }

        @Override
        protected void reportTracedLeak(String resourceType, String records) {
            if (!isOfDubbo(records)) {
                LEAKS.add(resourceType + records);
            }
        }

        /**
         * Its providers of Triple lose the messages of requests that they refuse. What was read with the logger of frames
         * was not read by us, who have none.
         */
        private static boolean isOfDubbo(String records) {
            return records.contains("org.apache.dubbo.") || records.contains("Http2InboundFrameLogger");
        }

        @Override
        protected void reportUntracedLeak(String resourceType) {
            LEAKS.add(resourceType);
        }
    }
}
