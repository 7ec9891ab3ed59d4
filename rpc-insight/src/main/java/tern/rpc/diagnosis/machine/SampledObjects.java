package tern.rpc.diagnosis.machine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the code that allocates most memory, and the code whose objects stay in the heap. The flight recorder samples
 * allocated objects, and its recording also contains those that have survived a garbage collection. The recorder does
 * not search for references to these objects, because this search would stop the process. Thread-safe.
 */
final class SampledObjects {

    private static final Logger LOG = LoggerFactory.getLogger(SampledObjects.class);
    private static final String KEPT = "jdk.OldObjectSample";
    private static final String ALLOCATED = "jdk.ObjectAllocationSample";
    private static final String TIME = "allocationTime";
    private static final String WEIGHT = "weight";
    private static final Duration LENGTH = Duration.ofSeconds(8);
    private static final long MAX_BYTES = 8L << 20;
    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(60);

    /** A result that is older than this may no longer show the objects that matter now. */
    private static final long VALID_NANOS = TimeUnit.MINUTES.toNanos(5);

    /** An object that stays must be at least this old. Younger objects may belong to running calls. */
    private static final Duration MIN_AGE = Duration.ofSeconds(3);

    private boolean isRunning; // guarded by this
    private long next = Long.MIN_VALUE; // no search starts before this time; guarded by this
    private Result found = new Result("", ""); // guarded by this
    private long foundNanos; // guarded by this

    /**
     * The code that was found, as text; empty if no code stands out.
     *
     * @param kept the code whose objects stay in the heap
     * @param allocated the code that allocates most memory
     */
    record Result(String kept, String allocated) {}

    /** Starts a search, unless a search is running or has ended a short time ago. */
    synchronized void search(long now) {
        if (isRunning || (next != Long.MIN_VALUE && now - next < 0) || !FlightRecording.isThere()) {
            return;
        }
        isRunning = true;
        next = now + LENGTH.toNanos() + PAUSE_NANOS;
        Thread thread = new Thread(this::record, "rpc-flight-recorder-objects");
        thread.setDaemon(true);
        thread.start();
    }

    /** Returns what the last search has found. The texts are empty if there was no search in the last minutes. */
    synchronized Result found(long now) {
        return now - foundNanos > VALID_NANOS ? new Result("", "") : found;
    }

    private void record() {
        Path file = null;
        try (Recording recording = new Recording()) {
            recording.setMaxSize(MAX_BYTES);
            recording.enable(KEPT).withStackTrace().with("cutoff", "0 ns");
            recording.enable(ALLOCATED).with("throttle", "150/s");
            recording.start();
            long end = System.nanoTime() + LENGTH.toNanos();
            while (System.nanoTime() - end < 0) {
                LockSupport.parkNanos(this, end - System.nanoTime());
            }
            if (FlightRecording.stop(recording)) {
                file = Files.createTempFile("tern-rpc", ".jfr");
                recording.dump(file);
                Result result = of(file, Instant.now());
                synchronized (this) {
                    found = result;
                    foundNanos = System.nanoTime();
                }
            }
            // The recording file cannot be created, the JVM has no flight recorder, or memory is exhausted.
        } catch (IOException | RuntimeException | Error e) {
            LOG.info("The code that allocates cannot be found: {}", e.toString());
        } finally {
            FlightRecording.delete(file);
            synchronized (this) {
                isRunning = false;
            }
        }
    }

    /**
     * Reads a recording.
     *
     * @param end the end of the recording
     */
    static Result of(Path file, Instant end) throws IOException {
        Places kept = new Places();
        Places allocated = new Places();
        try (RecordingFile events = new RecordingFile(file)) {
            while (events.hasMoreEvents()) {
                RecordedEvent event = events.readEvent();
                String name = event.getEventType().getName();
                if (name.equals(KEPT) && isOld(event, end)) {
                    kept.add(RecordingSummary.object(event), 1);
                } else if (name.equals(ALLOCATED)) {
                    allocated.add(
                            RecordingSummary.object(event),
                            event.hasField(WEIGHT) ? (double) event.getLong(WEIGHT) : 1);
                }
            }
        }
        return new Result(kept.main("the sampled objects that stay"), allocated.main("the allocated memory"));
    }

    private static boolean isOld(RecordedEvent event, Instant end) {
        return !event.hasField(TIME)
                || Duration.between(event.getInstant(TIME), end).compareTo(MIN_AGE) >= 0;
    }

    /** Sums by place in the application's code. Not thread-safe. */
    static final class Places {

        private static final int MAX_PLACES = 1_024;

        /** A place is named only if at least {@value} objects were sampled. */
        private static final int MIN_OBJECTS = 10;

        /** A place is named only if it makes up at least {@value} of the sum of all places. */
        private static final double MAIN = 0.4;

        private final Map<String, Double> sums = new HashMap<>();
        private double all;
        private int objects;

        /** @param place the place where an object was allocated; null if the application's code is not involved */
        void add(@Nullable String place, double amount) {
            objects++;
            all += amount;
            if (place != null && (sums.size() < MAX_PLACES || sums.containsKey(place))) {
                sums.merge(place, amount, Double::sum);
            }
        }

        /** Returns the main place with its share, as text; empty if there is none. */
        String main(String of) {
            return sums.entrySet().stream()
                    .filter(place -> objects >= MIN_OBJECTS && place.getValue() >= MAIN * all)
                    .max(Map.Entry.comparingByValue())
                    .map(place -> String.format(
                            Locale.ROOT, "%s (%.0f %% of %s)", place.getKey(), 100 * place.getValue() / all, of))
                    .orElse("");
        }
    }
}
