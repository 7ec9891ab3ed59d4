package tern.rpc.diagnosis;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.pool.ApplicationCode;

/**
 * Finds the code that makes the JVM collect garbage by {@code System.gc()}. A sample of the threads rarely shows this
 * code, because all threads stand still during the collection. The flight recorder records a stack for each of these
 * collections. Thread-safe.
 */
final class ExplicitCollections {

    private static final Logger LOG = LoggerFactory.getLogger(ExplicitCollections.class);
    private static final String EVENT = "jdk.SystemGC";

    /** The flight recorder searches for the code for at most this time. */
    private static final Duration LENGTH = Duration.ofSeconds(60);

    private static final long PAUSE_NANOS = TimeUnit.MINUTES.toNanos(5);

    /** A caller that was last seen longer ago than this does not explain the present collections. */
    private static final long KEPT_NANOS = TimeUnit.MINUTES.toNanos(10);

    private static final int MAX_CALLERS = 64;

    private final Map<Caller, Integer> callers = new HashMap<>(); // guarded by this
    private long lastEvent; // the time of the last event; guarded by this
    private long next = Long.MIN_VALUE; // the time before which no search starts; guarded by this
    private @Nullable AutoCloseable stream; // guarded by this

    /**
     * Code that makes the JVM collect garbage.
     *
     * @param place the code of the application, or the innermost code outside of {@code java.lang} if there is none
     * @param thread the common name of the threads that run the code
     */
    record Caller(String place, String thread, Reason reason) {

        /** Returns the code and its thread for a diagnosis. */
        String shown() {
            return place + " (thread " + thread + ")";
        }
    }

    /** The reason why code makes the JVM collect garbage. */
    enum Reason {
        /** The code calls {@code System.gc()} itself or through a library. */
        CODE,
        /** The memory for direct buffers is exhausted. */
        DIRECT_BUFFERS,
        /** The distributed garbage collector of RMI collects periodically. */
        RMI
    }

    /** Starts a search, unless one is running or ended a short time ago. */
    synchronized void search(long now) {
        if (stream != null || (next != Long.MIN_VALUE && now - next < 0) || !FlightRecording.isThere()) {
            return;
        }
        next = now + LENGTH.toNanos() + PAUSE_NANOS;
        try {
            RecordingStream events = new RecordingStream();
            events.enable(EVENT).withStackTrace();
            events.onEvent(EVENT, this::add);
            events.onClose(this::closed);
            events.setEndTime(Instant.now().plus(LENGTH));
            stream = events;
            events.startAsync();
            // The recorder cannot write its files, the JVM has no flight recorder, or memory is exhausted.
        } catch (RuntimeException | Error e) {
            stream = null;
            LOG.info("The code that calls System.gc() cannot be found: {}", e.toString());
        }
    }

    /** Ends a search that is still running. */
    void stop() {
        AutoCloseable running;
        synchronized (this) {
            running = stream;
            stream = null;
        }
        if (running instanceof RecordingStream events) {
            events.close();
        }
    }

    private synchronized void closed() {
        stream = null;
    }

    /** Returns the code that called {@code System.gc()} most often in the last minutes; null if it is unknown. */
    synchronized @Nullable Caller most(long now) {
        if (now - lastEvent > KEPT_NANOS) {
            return null;
        }
        return callers.entrySet().stream()
                .max(Map.Entry.comparingByValue())
                .map(Map.Entry::getKey)
                .orElse(null);
    }

    private void add(RecordedEvent event) {
        RecordedStackTrace stack = event.getStackTrace();
        RecordedThread thread = event.getThread();
        String name = thread == null || thread.getJavaName() == null ? "unknown" : thread.getJavaName();
        Caller caller = caller(stack == null ? List.of() : frames(stack), TaskWatch.nameOf(name));
        long now = System.nanoTime();
        synchronized (this) {
            if (caller != null && (callers.size() < MAX_CALLERS || callers.containsKey(caller))) {
                callers.merge(caller, 1, Integer::sum);
                lastEvent = now;
            }
        }
    }

    private static List<StackTraceElement> frames(RecordedStackTrace stack) {
        List<StackTraceElement> frames = new ArrayList<>();
        for (RecordedFrame frame : stack.getFrames()) {
            if (frame.isJavaFrame()) {
                frames.add(RecordingSummary.element(frame));
            }
        }
        return frames;
    }

    /**
     * Returns the caller that the given stack of a requested collection shows; null if the stack is empty.
     *
     * @param frames the frames of the stack, the innermost first
     * @param thread the common name of the threads
     */
    static @Nullable Caller caller(List<StackTraceElement> frames, String thread) {
        StackTraceElement application = ApplicationCode.first(frames.toArray(StackTraceElement[]::new));
        StackTraceElement library = null;
        Reason reason = Reason.CODE;
        for (StackTraceElement frame : frames) {
            String type = frame.getClassName();
            if (type.equals("java.nio.Bits")) {
                reason = Reason.DIRECT_BUFFERS;
            } else if (type.startsWith("sun.rmi.transport.")) {
                reason = Reason.RMI;
            }
            library = library == null && !type.startsWith("java.lang.") ? frame : library;
        }
        StackTraceElement place = application != null ? application : library;
        return place == null ? null : new Caller(ApplicationCode.shown(place), thread, reason);
    }
}
