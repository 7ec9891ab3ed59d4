package tern.rpc.diagnosis.machine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Recording;
import jdk.jfr.RecordingState;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the flight recorder for 30 s on a separate thread, and keeps a summary of the recording. The recording file is
 * at most 32 MB in size and is deleted afterwards. Thread-safe.
 */
public final class FlightRecording {

    private static final Logger LOG = LoggerFactory.getLogger(FlightRecording.class);
    private static final Duration LENGTH = Duration.ofSeconds(30);
    private static final long MAX_BYTES = 32L << 20;
    private static final Duration WAITS = Duration.ofMillis(10);
    private static final Duration PINNED = Duration.ofMillis(5);
    private static final Duration SAMPLES = Duration.ofMillis(20);

    /**
     * Since this version of Java, the start of the first recording no longer instruments JDK classes (JDK-8308995 and
     * JDK-8331876). In older versions, the JVM therefore discards all compiled code when the first recording starts.
     */
    private static final int NOT_INSTRUMENTED_SINCE = 24;

    /**
     * A recording is due only after calls have missed the latency target for this time. Because of this delay, the
     * processor time that a recording uses does not affect the first diagnoses.
     */
    private static final long DUE_AFTER_NANOS = TimeUnit.SECONDS.toNanos(10);

    private static final long PAUSE_NANOS = TimeUnit.MINUTES.toNanos(10);

    /** A redefinition of classes is attributed to the start of a recording if it follows within this time. */
    private static final long STARTING_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final AtomicBoolean running = new AtomicBoolean();
    private volatile @Nullable Recorded last;
    private volatile @Nullable Long startedNanos; // when the last recording started
    private volatile boolean startsInMisses;
    private long lastDue = Long.MIN_VALUE; // Only the diagnosis thread uses this field.

    /** Returns whether this JVM contains the flight recorder. */
    static boolean isThere() {
        return ModuleLayer.boot().findModule("jdk.jfr").isPresent();
    }

    /** Returns true if a recording can start without slowing down the process. */
    static boolean startsCheaply() {
        return !isThere() || Runtime.version().feature() >= NOT_INSTRUMENTED_SINCE || FlightRecorder.isInitialized();
    }

    /**
     * Returns whether the start of a recording has recently requested the given operation of the JVM. The start of a
     * recording redefines the event classes of libraries.
     */
    boolean hasRequested(String operation, long now) {
        Long started = startedNanos;
        return operation.equals("RedefineClasses") && started != null && now - started < STARTING_NANOS;
    }

    /**
     * Remembers when a recording starts, because its start redefines classes. Must be called immediately before the
     * start.
     */
    void starting(long now) {
        startedNanos = now;
    }

    /** Returns the summary of the last recording, or null if there was none. */
    @Nullable
    public Recorded last() {
        return last;
    }

    /** Sets whether a recording may be started while calls miss the latency target. */
    public void startInMisses(boolean wanted) {
        startsInMisses = wanted;
    }

    /**
     * Returns whether a recording must start now, because calls have missed the latency target for a while. Returns
     * true at most once in ten minutes. Returns false if the start would slow down the process. Several processes on a
     * machine often miss their targets at the same time, and their recordings would slow down each other. Only the
     * diagnosis thread may call this method.
     *
     * @param sinceNanos when calls began to miss the latency target
     */
    public boolean isDue(long now, long sinceNanos) {
        boolean rested = lastDue == Long.MIN_VALUE || now - lastDue >= PAUSE_NANOS;
        if (!startsInMisses || !startsCheaply() || !rested || now - sinceNanos < DUE_AFTER_NANOS) {
            return false;
        }
        lastDue = now;
        return true;
    }

    /**
     * Returns whether the flight recorder may search for a cause that can be found only by the recorder. If starting
     * the recorder is expensive, two more conditions apply. The search must not begin before a recording would be due,
     * because the start would slow down the calls that the first diagnoses describe. The search must also not begin
     * while the processors are busy: the start of the recorder discards all compiled code, and busy processors take a
     * long time to compile the code again.
     *
     * @param sinceNanos when calls began to miss the latency target
     */
    public boolean maySearch(long now, long sinceNanos, Machine seen) {
        return startsInMisses && (startsCheaply() || (!seen.isBusy() && now - sinceNanos >= DUE_AFTER_NANOS));
    }

    /** Returns whether the flight recorder may search for a cause at any time, because its start is cheap. */
    public boolean maySearchCheaply() {
        return startsInMisses && startsCheaply();
    }

    /**
     * Starts a recording unless one is running.
     *
     * @param miss when calls began to miss the latency target; null if they meet it
     * @return whether this call started a recording
     */
    public boolean start(Instant now, @Nullable Instant miss) {
        if (!isThere() || !running.compareAndSet(false, true)) {
            return false;
        }
        Thread thread = new Thread(() -> record(now, miss), "rpc-flight-recorder");
        thread.setDaemon(true);
        thread.start();
        return true;
    }

    private void record(Instant now, @Nullable Instant miss) {
        Path file = null;
        try (Recording recording = new Recording()) {
            enable(recording);
            starting(System.nanoTime());
            recording.start();
            long end = System.nanoTime() + LENGTH.toNanos();
            while (System.nanoTime() - end < 0) {
                LockSupport.parkNanos(this, end - System.nanoTime());
            }
            if (!stop(recording)) {
                return;
            }
            file = Files.createTempFile("tern-rpc", ".jfr");
            recording.dump(file);
            last = new Recorded(now, miss, LENGTH.toSeconds(), RecordingSummary.of(file));
            // The recording file cannot be created, the JVM has no flight recorder, or memory is exhausted.
        } catch (IOException | RuntimeException | Error e) {
            LOG.info("No flight recording was taken: {}", e.toString());
        } finally {
            delete(file);
            running.set(false);
        }
    }

    /**
     * Stops a recording. Returns false if the recording was already stopped, because the JVM stops all recordings when
     * it ends. Such a recording has no summary.
     */
    static boolean stop(Recording recording) {
        try {
            return recording.getState() == RecordingState.RUNNING && recording.stop();
        } catch (IllegalStateException e) { // The JVM has stopped the recording after its state was read.
            LOG.debug("A flight recording was stopped before its end", e);
            return false;
        }
    }

    static void delete(@Nullable Path file) {
        if (file != null) {
            try {
                Files.deleteIfExists(file);
            } catch (IOException e) {
                LOG.info("The flight recording {} was not deleted: {}", file, e.toString());
            }
        }
    }

    private static void enable(Recording recording) {
        recording.setMaxSize(MAX_BYTES);
        recording.enable("jdk.ExecutionSample").withPeriod(SAMPLES);
        recording.enable("jdk.ObjectAllocationSample").with("throttle", "150/s");
        for (String wait : List.of(
                "jdk.JavaMonitorEnter",
                "jdk.ThreadPark",
                "jdk.SocketRead",
                "jdk.SocketWrite",
                "jdk.FileRead",
                "jdk.FileWrite",
                "jdk.FileForce")) {
            recording.enable(wait).withThreshold(WAITS).withStackTrace();
        }
        recording.enable("jdk.SystemGC").withStackTrace();
        recording.enable("jdk.VirtualThreadPinned").withThreshold(PINNED).withStackTrace();
    }
}
