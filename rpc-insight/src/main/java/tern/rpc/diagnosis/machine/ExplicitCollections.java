package tern.rpc.diagnosis.machine;

import java.time.Duration;
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
import tern.rpc.diagnosis.sample.TaskWatch;

/**
 * Finds the code that makes the JVM collect garbage by calling {@code System.gc()}. A sample of the threads rarely
 * shows this code, because all threads are stopped during the collection. The flight recorder records a stack for each
 * of these collections. Thread-safe.
 */
final class ExplicitCollections {

    private static final Logger LOG = LoggerFactory.getLogger(ExplicitCollections.class);
    private static final String EVENT = "jdk.SystemGC";

    /** The maximum duration of a search with the flight recorder. */
    private static final Duration LENGTH = Duration.ofSeconds(60);

    private static final long PAUSE_NANOS = TimeUnit.MINUTES.toNanos(5);

    /**
     * If no call of {@code System.gc()} has been recorded for this long, the known callers probably do not request the
     * current garbage collections.
     */
    private static final long KEPT_NANOS = TimeUnit.MINUTES.toNanos(10);

    private static final int MAX_CALLERS = 64;

    private final Map<CollectionCaller, Integer> callers = new HashMap<>(); // guarded by this
    private long lastEvent; // when a call of System.gc() was last recorded; guarded by this
    private long next = Long.MIN_VALUE; // no search starts before this time; guarded by this
    private @Nullable AutoCloseable stream; // guarded by this
    private long begunNanos; // when the last search began; guarded by this

    /** Starts a search, unless a search is running or has ended a short time ago. */
    synchronized void search(long now) {
        if (stream != null || (next != Long.MIN_VALUE && now - next < 0) || !FlightRecording.isThere()) {
            return;
        }
        next = now + LENGTH.toNanos() + PAUSE_NANOS;
        if (now - lastEvent > KEPT_NANOS) {
            // Otherwise callers from an earlier period could outnumber the callers that request the current garbage
            // collections.
            callers.clear();
        }
        RecordingStream events = null;
        try {
            events = new RecordingStream();
            events.enable(EVENT).withStackTrace();
            events.onEvent(EVENT, this::add);
            events.startAsync();
            stream = events;
            begunNanos = now;
            // The recorder cannot write its files, the JVM has no flight recorder, or memory is exhausted.
        } catch (RuntimeException | Error e) {
            LOG.info("The code that calls System.gc() cannot be found: {}", e.toString());
            if (events != null) {
                events.close(); // If the recording stayed open, each later search would add another open recording.
            }
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

    /**
     * Returns the code that called {@code System.gc()} most often in the last minutes; null if it is unknown. Also ends
     * a search that has run for long enough. The diagnosis calls this once a second.
     */
    @Nullable
    CollectionCaller most(long now) {
        boolean isOver;
        synchronized (this) {
            isOver = stream != null && now - begunNanos >= LENGTH.toNanos();
        }
        if (isOver) {
            stop(); // called outside the lock, because stop() may wait for the stream's thread, which calls add()
        }
        return known(now);
    }

    private synchronized @Nullable CollectionCaller known(long now) {
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
        CollectionCaller caller =
                CollectionCaller.of(stack == null ? List.of() : frames(stack), TaskWatch.nameOf(name));
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
}
