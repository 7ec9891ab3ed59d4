package tern.rpc.diagnosis;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.calls.CallRecords.Sums;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.machine.Machine;

/**
 * Stores the history of an application: up to {@value #MAX_EPISODES} causes of missed latency targets from the last 24
 * hours, and measured values. The values cover each second of the last ten minutes and each minute of the last 24
 * hours. Thread-safe.
 */
public final class History {

    static final int MAX_EPISODES = 500;
    private static final Duration KEPT = Duration.ofHours(24);
    private static final int SECONDS = 600;
    private static final int MINUTES = 24 * 60;
    private static final int SECONDS_A_MINUTE = 60;

    /** A cause that was first for less than this time is not listed, because the first cause may change quickly. */
    private static final Duration LISTED = Duration.ofSeconds(5);

    /** If a cause was not first for this time, it begins a new episode when it is first again. */
    private static final Duration GAP = Duration.ofSeconds(60);

    private final Deque<Episode> episodes = new ArrayDeque<>(); // This object's lock guards this and the fields below.
    private final Deque<Figures> seconds = new ArrayDeque<>();
    private final Deque<Figures> minutes = new ArrayDeque<>();
    private Figures minute = Figures.NONE;
    private int secondsOfMinute;

    /**
     * A period during which calls missed the latency target for the same main cause. A miss of the latency target is
     * the whole period during which calls miss the target, and consists of one or more episodes.
     *
     * @param miss the beginning of the miss of the latency target
     * @param from the beginning of the episode
     * @param until the last time when the diagnosis ranked this cause first
     * @param first the kind and name of the cause that the diagnosis ranks first
     * @param p99Ms the 99th percentile of the calls' times in milliseconds; -1 if unknown
     */
    public record Episode(
            Instant miss,
            Instant from,
            Instant until,
            List<String> methods,
            String first,
            double ms,
            double ofMs,
            String change,
            long calls,
            long late,
            long failed,
            long refused,
            int hung,
            double p99Ms) {

        public Episode {
            methods = List.copyOf(methods);
        }

        private Episode from(Instant beginning) {
            return new Episode(
                    miss, beginning, until, methods, first, ms, ofMs, change, calls, late, failed, refused, hung,
                    p99Ms);
        }
    }

    /**
     * The values measured in a second or a minute. The value -1 means unknown.
     *
     * @param at the end of the second or minute
     * @param meanMs the mean time of a call in milliseconds
     * @param processors the number of processors that the process kept busy
     * @param collecting the share of time spent in pauses of the garbage collector
     * @param allocatedPerSecond the number of bytes allocated per second
     */
    public record Figures(
            Instant at,
            long calls,
            long late,
            long failed,
            long refused,
            int hung,
            double meanMs,
            double processors,
            double collecting,
            double allocatedPerSecond) {

        static final Figures NONE = new Figures(Instant.EPOCH, 0, 0, 0, 0, 0, 0, 0, 0, 0);

        /** Returns the values of one second, computed from the counters at its beginning and at its end. */
        static Figures of(
                Instant at, CounterSnapshot before, CounterSnapshot now, Evidence.Counts counts, Machine machine) {
            long nanos = 0;
            for (Map.Entry<String, Sums> entry : now.methods().entrySet()) {
                nanos += entry.getValue()
                        .since(before.methods().getOrDefault(entry.getKey(), Sums.NONE))
                        .nanos();
            }
            return new Figures(
                    at,
                    counts.calls(),
                    counts.late(),
                    counts.failed(),
                    counts.refused(),
                    counts.hung(),
                    counts.calls() == 0 ? 0 : nanos / 1e6 / counts.calls(),
                    machine.own(),
                    machine.collecting(),
                    machine.allocatedPerSecond());
        }

        /**
         * Merges this entry with the values of the next second. Counts are added, and other values are averaged.
         *
         * @param secondsSoFar the number of seconds that this entry already covers
         */
        private Figures plus(Figures next, int secondsSoFar) {
            long all = calls + next.calls;
            return new Figures(
                    next.at,
                    all,
                    late + next.late,
                    failed + next.failed,
                    refused + next.refused,
                    Math.max(hung, next.hung),
                    all == 0 ? 0 : (meanMs * calls + next.meanMs * next.calls) / all,
                    mean(processors, next.processors, secondsSoFar),
                    mean(collecting, next.collecting, secondsSoFar),
                    mean(allocatedPerSecond, next.allocatedPerSecond, secondsSoFar));
        }

        private static double mean(double soFar, double next, int seconds) {
            return next < 0 ? soFar : (soFar * seconds + next) / (seconds + 1);
        }
    }

    /** Records the measured values of one second. */
    synchronized void add(Figures second) {
        add(seconds, second, SECONDS);
        minute = minute.plus(second, secondsOfMinute);
        if (++secondsOfMinute == SECONDS_A_MINUTE) {
            add(minutes, minute, MINUTES);
            minute = Figures.NONE;
            secondsOfMinute = 0;
        }
    }

    private static <T> void add(Deque<T> ring, T entry, int max) {
        ring.addLast(entry);
        if (ring.size() > max) {
            ring.removeFirst();
        }
    }

    /**
     * Records an episode: a period during which calls missed the latency target for the same main cause. If the last
     * recorded episode belongs to the same miss, has the same cause and is not older than a minute, the new episode
     * replaces it and keeps its beginning.
     */
    synchronized void add(Episode episode) {
        Episode last = episodes.peekLast();
        if (last != null
                && last.miss.equals(episode.miss)
                && last.first.equals(episode.first)
                && !last.until.isBefore(episode.from.minus(GAP))) {
            episodes.removeLast();
            episodes.addLast(episode.from(last.from));
        } else {
            add(episodes, episode, MAX_EPISODES);
        }
        Episode oldest = episodes.peekFirst();
        while (oldest != null && oldest.until.isBefore(episode.until.minus(KEPT))) {
            episodes.removeFirst();
            oldest = episodes.peekFirst();
        }
    }

    /** Returns the periods during which calls missed the latency target, with their main causes, oldest first. */
    public synchronized List<Episode> episodes() {
        return List.copyOf(episodes);
    }

    /**
     * Returns the most recent causes before the given diagnosis, newest first. A miss may last long and have several
     * causes one after another. Of the current miss, the current cause is left out, and so is each cause that was first
     * only briefly.
     */
    public synchronized List<Episode> before(Diagnosis now, int max) {
        Diagnosis.Miss current = now.miss();
        List<Episode> before = new ArrayList<>();
        Iterator<Episode> newest = episodes.descendingIterator();
        boolean isFirst = true;
        while (newest.hasNext() && before.size() < max) {
            Episode episode = newest.next();
            boolean isOfMiss = current != null && episode.miss.equals(current.since());
            boolean isShort = episode.until.isBefore(episode.from.plus(LISTED));
            if (!isOfMiss || !(isFirst || isShort)) {
                before.add(episode);
            }
            isFirst = false;
        }
        return before;
    }

    /** Returns the measured values of each of the last seconds, oldest first. */
    public synchronized List<Figures> seconds() {
        return List.copyOf(seconds);
    }

    /** Returns the measured values of each of the last complete minutes, oldest first. */
    public synchronized List<Figures> minutes() {
        return List.copyOf(minutes);
    }

    /** Returns the last recorded period during which calls missed the latency target; null if there was none. */
    synchronized @Nullable Episode last() {
        return episodes.peekLast();
    }
}
