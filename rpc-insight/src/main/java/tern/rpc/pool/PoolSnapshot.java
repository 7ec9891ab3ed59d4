package tern.rpc.pool;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A pool at one moment. Counts of which a library keeps no record are -1.
 *
 * @param name as the application calls it: that of the bean, or of the group of properties
 * @param kind what it hands out
 * @param max at most so many are handed out at once
 * @param maxPerHost at most so many for one host; {@code max} where hosts make no difference
 * @param hosts that it has served so far; 1 where hosts make no difference
 * @param fair whether those who wait are served in the order in which they came
 * @param active handed out now
 * @param idle free now
 * @param waiting threads, or tasks of an executor, that wait for one now
 * @param queueCapacity how many may wait; {@link Integer#MAX_VALUE} when nothing bounds them
 * @param waitLimit how long one may wait; negative when nothing bounds it
 * @param taken handed out since the beginning
 * @param refused waits that ended with nothing since the beginning: time-outs, rejected tasks
 * @param callerRuns tasks that their callers had to run themselves since the beginning; 0 but for executors
 * @param waited sum of all waits since the beginning; negative when unknown
 * @param held sum of the times for which one was handed out since the beginning; negative when unknown
 * @param settings effective values, each with the property that sets it and where its value comes from
 */
public record PoolSnapshot(
        String name,
        PoolKind kind,
        int max,
        int maxPerHost,
        int hosts,
        boolean fair,
        int active,
        int idle,
        int waiting,
        int queueCapacity,
        Duration waitLimit,
        long taken,
        long refused,
        long callerRuns,
        Duration waited,
        Duration held,
        List<PoolSetting> settings) {

    /** In place of a time that nobody measures, or nothing bounds. */
    public static final Duration UNKNOWN = Duration.ofNanos(-1);

    public PoolSnapshot {
        settings = List.copyOf(settings);
    }

    /** Of an idle pool, of which nothing but its bound is known yet. */
    public static Builder builder(String name, PoolKind kind, int max) {
        return new Builder(name, kind, max);
    }

    /** How many can be handed out at once to the hosts that are asked. */
    public int effectiveMax() {
        return (int) Math.min(max, (long) maxPerHost * Math.max(1, hosts));
    }

    /** The setting that decides this, if any is known. */
    public Optional<PoolSetting> setting(PoolSetting.Use use) {
        return settings.stream().filter(setting -> setting.use() == use).findFirst();
    }

    /** The same with the counts and sums of what happened after an earlier look. */
    public PoolSnapshot since(PoolSnapshot earlier) {
        return new PoolSnapshot(
                name,
                kind,
                max,
                maxPerHost,
                hosts,
                fair,
                active,
                idle,
                waiting,
                queueCapacity,
                waitLimit,
                difference(taken, earlier.taken),
                difference(refused, earlier.refused),
                difference(callerRuns, earlier.callerRuns),
                difference(waited, earlier.waited),
                difference(held, earlier.held),
                settings);
    }

    private static long difference(long now, long earlier) {
        return now < 0 || earlier < 0 ? now : Math.max(0, now - earlier);
    }

    private static Duration difference(Duration now, Duration earlier) {
        return Duration.ofNanos(difference(now.toNanos(), earlier.toNanos()));
    }

    /** Names the counts, of which there are too many for a row of arguments. Not thread-safe. */
    public static final class Builder {
        private final String name;
        private final PoolKind kind;
        private final int max;
        private final List<PoolSetting> settings = new ArrayList<>();
        private int maxPerHost;
        private int hosts = 1;
        private boolean fair;
        private int active;
        private int idle;
        private int waiting;
        private int queueCapacity = Integer.MAX_VALUE;
        private Duration waitLimit = UNKNOWN;
        private long taken;
        private long refused;
        private long callerRuns;
        private Duration waited = UNKNOWN;
        private Duration held = UNKNOWN;

        private Builder(String name, PoolKind kind, int max) {
            this.name = name;
            this.kind = kind;
            this.max = max;
            this.maxPerHost = max;
        }

        public Builder hosts(int most, int seen) {
            maxPerHost = most;
            hosts = seen;
            return this;
        }

        public Builder fair(boolean inOrder) {
            fair = inOrder;
            return this;
        }

        public Builder now(int handedOut, int free, int waiters) {
            active = handedOut;
            idle = free;
            waiting = waiters;
            return this;
        }

        public Builder queueCapacity(int most) {
            queueCapacity = most;
            return this;
        }

        /** @param longest negative when nothing bounds a wait */
        public Builder waitLimit(Duration longest) {
            waitLimit = longest;
            return this;
        }

        public Builder counts(long handedOut, long endedWithNothing) {
            taken = handedOut;
            refused = endedWithNothing;
            return this;
        }

        public Builder callerRuns(long tasks) {
            callerRuns = tasks;
            return this;
        }

        public Builder sums(Duration allWaits, Duration allUses) {
            waited = allWaits;
            held = allUses;
            return this;
        }

        public Builder settings(List<PoolSetting> effective) {
            settings.addAll(effective);
            return this;
        }

        public PoolSnapshot build() {
            return new PoolSnapshot(
                    name,
                    kind,
                    max,
                    maxPerHost,
                    hosts,
                    fair,
                    active,
                    idle,
                    waiting,
                    queueCapacity,
                    waitLimit,
                    taken,
                    refused,
                    callerRuns,
                    waited,
                    held,
                    settings);
        }
    }
}
