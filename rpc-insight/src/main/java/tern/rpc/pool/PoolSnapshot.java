package tern.rpc.pool;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A snapshot of a pool's state. A count is -1 if the library does not maintain it.
 *
 * @param name the name of the bean or of the group of properties
 * @param kind the kind of the resources in the pool
 * @param max the maximum number of resources that may be in use at once
 * @param maxPerHost the maximum number of resources that may be in use for one host at once; {@code max} if the pool
 *     does not distinguish hosts
 * @param hosts the number of hosts connected so far; 1 if the pool does not distinguish hosts
 * @param fair whether waiting threads are served in the order of their arrival
 * @param active the number of resources in use
 * @param idle the number of free resources
 * @param waiting the number of waiting threads; for an executor, the number of waiting tasks
 * @param queueCapacity the maximum number of waiting threads or tasks; {@link Integer#MAX_VALUE} for no limit
 * @param waitLimit the maximum wait; negative for no limit
 * @param taken the number of resources taken since the pool was created
 * @param refused the number of failed waits since the pool was created: timeouts and rejected tasks
 * @param callerRuns the number of tasks that the submitting threads have run themselves since the pool was created; 0
 *     except for executors
 * @param failed the number of tasks that ended with an exception since the pool was created; 0 except for executors.
 *     Tasks whose exception is stored in a future may be missing
 * @param lastFailure the exception and the code of such a task; null if there was none
 * @param inner the number of tasks that the executor's own threads have submitted to it since the pool was created;
 *     -1 if they are not counted
 * @param others the tasks that no call has submitted; null if they are not counted
 * @param waited the sum of all waiting times since the pool was created; negative if unknown
 * @param held the total time that resources have been in use since the pool was created; negative if unknown
 * @param thread the name of a thread of the executor; null if unknown
 * @param settings the settings in effect, each with its property and origin
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
        long failed,
        @Nullable String lastFailure,
        long inner,
        @Nullable OtherTasks others,
        Duration waited,
        Duration held,
        @Nullable String thread,
        List<PoolSetting> settings) {

    /** A time that was not measured or is unlimited. */
    public static final Duration UNKNOWN = Duration.ofNanos(-1);

    /**
     * Tasks of an executor that were submitted by threads that serve no call, for example by a scheduled job.
     *
     * @param started the number of these tasks that have started since the executor was created
     * @param ran the time that these tasks have run since the executor was created
     * @param running the number of these tasks that are running
     * @param submittedIn the code and the thread that submitted such a task; null if unknown
     */
    public record OtherTasks(
            long started,
            Duration ran,
            int running,
            @Nullable String submittedIn) {

        private @Nullable OtherTasks since(@Nullable OtherTasks earlier) {
            return earlier == null
                    ? null
                    : new OtherTasks(
                            difference(started, earlier.started), difference(ran, earlier.ran), running, submittedIn);
        }
    }

    public PoolSnapshot {
        settings = List.copyOf(settings);
    }

    /** Returns a builder for an idle pool without settings. */
    public static Builder builder(String name, PoolKind kind, int max) {
        return new Builder(name, kind, max);
    }

    /** Returns the maximum number of resources that may be in use at once, given the hosts connected so far. */
    public int effectiveMax() {
        return (int) Math.min(max, (long) maxPerHost * Math.max(1, hosts));
    }

    /** Returns the pool's setting that has the given effect. */
    public Optional<PoolSetting> setting(PoolSetting.Use use) {
        return settings.stream().filter(setting -> setting.use() == use).findFirst();
    }

    /** Returns the current state of the pool; counts and sums cover the time since an earlier snapshot. */
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
                difference(failed, earlier.failed),
                lastFailure,
                difference(inner, earlier.inner),
                others == null ? null : others.since(earlier.others),
                difference(waited, earlier.waited),
                difference(held, earlier.held),
                thread,
                settings);
    }

    private static long difference(long now, long earlier) {
        return now < 0 || earlier < 0 ? now : Math.max(0, now - earlier);
    }

    private static Duration difference(Duration now, Duration earlier) {
        return Duration.ofNanos(difference(now.toNanos(), earlier.toNanos()));
    }

    /**
     * Builds a snapshot. The components are set by name, because a constructor call with all of them would be hard to
     * read. Not thread-safe.
     */
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
        private long failed;
        private @Nullable String lastFailure;
        private long inner = -1;
        private @Nullable OtherTasks others;
        private Duration waited = UNKNOWN;
        private Duration held = UNKNOWN;
        private @Nullable String thread;

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

        /**
         * Sets the maximum wait.
         *
         * @param longest the maximum wait; negative for no limit
         */
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

        /**
         * Sets the number of tasks that ended with an exception.
         *
         * @param last the exception and the code of such a task; null if there was none
         */
        public Builder failures(long tasks, @Nullable String last) {
            failed = tasks;
            lastFailure = last;
            return this;
        }

        /** Sets the number of tasks that the executor's own threads have submitted to it; -1 if unknown. */
        public Builder inner(long tasks) {
            inner = tasks;
            return this;
        }

        /** Sets the tasks that no call has submitted. */
        public Builder others(OtherTasks tasks) {
            others = tasks;
            return this;
        }

        public Builder sums(Duration allWaits, Duration allUses) {
            waited = allWaits;
            held = allUses;
            return this;
        }

        /** Sets the name of a thread of the executor. */
        public Builder thread(@Nullable String known) {
            thread = known;
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
                    failed,
                    lastFailure,
                    inner,
                    others,
                    waited,
                    held,
                    thread,
                    settings);
        }
    }
}
