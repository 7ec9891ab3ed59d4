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
 * Fails a test class that leaked a Netty buffer. The check is registered for every test class of this module, because
 * Netty reads the settings of its leak detector when its first buffer class is loaded.
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
            return; // the check runs after the enclosing test class
        }
        if (!ResourceLeakDetector.isEnabled()) {
            return; // leak detection was turned off on the command line, because it would distort time measurements
        }
        if (!ResourceLeakDetector.getLevel().equals(ResourceLeakDetector.Level.PARANOID)) {
            throw new AssertionError("leak detection is " + ResourceLeakDetector.getLevel() + ", not paranoid");
        }
        List<String> leaks = found();
        if (!leaks.isEmpty()) {
            throw new AssertionError(leaks.size() + " buffers were lost, the first of them: " + leaks.get(0));
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
         * Returns whether Dubbo leaked the buffer. Dubbo's Triple providers leak the messages of refused requests. Only
         * Dubbo uses Netty's frame logger, so leak records that contain this logger belong to Dubbo.
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
