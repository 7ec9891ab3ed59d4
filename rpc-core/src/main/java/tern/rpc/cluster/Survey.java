package tern.rpc.cluster;

import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import tern.rpc.transport.ClientConnection;

/**
 * Checks all providers of a cluster ten times per second while there are calls. Runs on a call's thread. Measures the
 * values on which the choice of providers depends, starts connection attempts, and selects slow or failing providers
 * for probes. Thread-safe.
 */
final class Survey {

    private static final long EVERY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** The time until the next survey if some connected providers have not sent anything yet. */
    private static final long SOON_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /** How long the cluster counts as in use after each survey. */
    private static final long IN_USE_NANOS = TimeUnit.SECONDS.toNanos(10);

    /**
     * The time after a probe during which no trial takes place. A probe is a copy of an idempotent call; a trial is an
     * original call that is sent to a slow or failing provider.
     */
    private static final long COPIES_NANOS = TimeUnit.SECONDS.toNanos(5);

    /**
     * The minimum number of calls between two probes (copies of idempotent calls) of one provider while the first probe
     * is unanswered. Otherwise, the probes of many clients could overload a provider that is ten times slower than the
     * others and therefore gets only a tenth of the calls.
     */
    private static final int COPY_OF_UNANSWERED = 100;

    /**
     * A provider is slow if its response time exceeds the median by this factor. The response time of a healthy
     * provider counts as 1, as in the choice of providers. Otherwise, a provider could be avoided but never tried
     * again.
     */
    private static final double SLOW = 3;

    /**
     * While more than {@value} request bytes are waiting for a provider's socket, no copies of idempotent calls are
     * sent to this provider.
     */
    private static final long MAX_QUEUED_BEFORE_COPY = 64 << 10;

    /** The median is computed from {@value} providers at most. */
    private static final int SAMPLE = 101;

    private final Nodes nodes;
    private final ClusterStatistics statistics;
    private final AtomicLong nextNanos;
    private final AtomicReference<@Nullable Target> suspect = new AtomicReference<>();
    private final AtomicReference<@Nullable Target> trial = new AtomicReference<>();
    private int turn; // No lock is needed, because only one survey runs at a time.
    private volatile long lastCopyNanos;
    private volatile long callsAtSurvey;
    private volatile long callsAtTrial;

    Survey(Nodes nodes, ClusterStatistics statistics, long now) {
        this.nodes = nodes;
        this.statistics = statistics;
        this.nextNanos = new AtomicLong(now);
        this.lastCopyNanos = now - COPIES_NANOS;
    }

    /**
     * Returns whether a survey is due. If so, the calling thread must run the survey. In each period, only one thread
     * gets the result true.
     */
    boolean isDue(long now) {
        long next = nextNanos.get();
        return now - next >= 0 && nextNanos.compareAndSet(next, now + EVERY_NANOS);
    }

    /**
     * Returns whether a survey of the providers was made in the last seconds, which means that calls are being made.
     */
    boolean isInUse(long now) {
        return now - nextNanos.get() < IN_USE_NANOS;
    }

    /** Checks all providers, and returns whether one of them cannot take calls. */
    boolean run(Routes routes, long now) {
        List<Target> targets = routes.all();
        if (targets.size() == 1) {
            lookAt(targets.get(0), now);
            return !targets.get(0).isUsable();
        }
        boolean areAllUsable = true;
        double[] costs = new double[Math.min(SAMPLE, targets.size())];
        double[] judged = new double[costs.length];
        int known = 0;
        boolean warm = false;
        boolean isAnyConnecting = false;
        for (Target target : targets) {
            Node node = target.node();
            lookAt(target, now);
            boolean isUsable = target.isUsable();
            areAllUsable &= isUsable;
            if (!isUsable && node.link().isConnecting()) {
                isAnyConnecting = true;
                target.connection().probe();
            }
            if (isUsable && node.isKnown() && known < costs.length) {
                judged[known] = node.endedCost(now);
                costs[known++] = node.cost(now);
            }
            warm |= isUsable && now - node.link().usableSinceNanos() >= ClusterStatistics.SLOW_START_NANOS;
        }
        statistics.set(median(costs, known), warm);
        measureGroups(routes, now);
        if (isAnyConnecting) {
            nextNanos.set(now + SOON_NANOS);
        }
        attempt(targets, now);
        suspectOne(targets, median(judged, known), now);
        return !areAllUsable;
    }

    private static double median(double[] values, int count) {
        Arrays.sort(values, 0, count);
        return count == 0 ? 1 : values[count / 2];
    }

    /**
     * Measures, for each group of providers, the share of calls that stays in the client's zone. If more than half of
     * the providers of a group are ejected, ignores the ejections in this group.
     */
    void measureGroups(Routes routes, long now) {
        Set<Target> needed = Collections.newSetFromMap(new IdentityHashMap<>());
        routes.forEachGroup(group -> {
            if (group.measure(now)) {
                needed.addAll(group.targets());
            }
        });
        for (Target target : routes.all()) {
            target.ignoreEjection(needed.contains(target));
        }
    }

    private static void lookAt(Target target, long now) {
        target.node().look(now);
        target.callsOfLastMinute(now);
    }

    /** Starts connecting to unreachable providers, with at most one attempt per provider every half second. */
    private void attempt(List<Target> targets, long now) {
        for (int i = 0; i < targets.size(); i++) {
            if (!nodes.attempt(targets.get(Math.floorMod(turn, targets.size())).node(), now)) {
                return; // The next survey continues with the provider at the index "turn".
            }
            turn++;
        }
    }

    private void suspectOne(List<Target> targets, double median, long now) {
        long calls = 0;
        for (Target target : targets) {
            calls += target.node().calls();
        }
        callsAtSurvey = calls;
        callsAtTrial = Math.min(callsAtTrial, calls); // the number of calls decreases when a provider is removed
        boolean areCopied = now - lastCopyNanos < COPIES_NANOS; // True if a call was copied recently.
        Target copied = null;
        Target tried = null;
        for (Target target : targets) {
            if (isSuspect(target, median, now)) {
                copied = !isBehind(target) && isCopyDue(target, calls, now) ? worse(target, copied, now) : copied;
                tried = !areCopied && isTrialDue(target, calls, now) ? worse(target, tried, now) : tried;
            }
        }
        suspect.set(copied);
        trial.set(tried);
    }

    private static boolean isCopyDue(Target target, long calls, long now) {
        ProbePauses pauses = target.node().probes();
        return pauses.isOver(now) && (!pauses.isUnanswered() || calls - target.callsAtCopy() >= COPY_OF_UNANSWERED);
    }

    private boolean isTrialDue(Target target, long calls, long now) {
        Node node = target.node();
        return !node.probes().isUnanswered() && node.trials().isDue(node.isFailing(now), calls - callsAtTrial, now);
    }

    private static Target worse(Target one, @Nullable Target other, long now) {
        return other == null || one.node().cost(now) > other.node().cost(now) ? one : other;
    }

    private static boolean isSuspect(Target target, double median, long now) {
        Node node = target.node();
        return target.isUsable()
                && target.attributes().weight() > 0
                && !node.isStalled(now)
                && !target.lacksService(now)
                && (node.isEjected(now) || node.endedCost(now) > threshold(node, median, now));
    }

    /**
     * Returns the response time above which a provider is tried again. While most providers are healthy, a provider
     * that is slow on average is avoided. Such a provider must be tried again even if the recorded response time of its
     * last answer has almost decayed to the usual time.
     */
    private static double threshold(Node node, double median, long now) {
        return median <= 1 && node.isSlow(now) ? 1 : SLOW * median;
    }

    /** Returns whether a slow or failing provider may be probed. */
    boolean hasSuspect() {
        return suspect.get() != null;
    }

    /**
     * Returns the slow or failing provider that gets the next application call as a trial, because no copy of an
     * idempotent call can be sent as a probe. Returns null if no provider needs a trial.
     */
    @Nullable
    Target takeTrial() {
        return trial.get() == null ? null : trial.getAndSet(null);
    }

    /** Records that a call is sent to a slow or failing provider as a trial. */
    void tried(Target target, long now) {
        callsAtTrial = callsAtSurvey;
        target.node().trials().taken(now);
    }

    /**
     * Returns a provider that should get a copy of an idempotent call, or null if there is none. A provider that does
     * not read its requests gets no copies, because waiting copies would occupy memory.
     *
     * @param among the providers that may accept the call
     */
    @Nullable
    Target takeProbe(List<Target> among, long now) {
        Target found = suspect.get();
        if (found == null
                || found.attributes().weight() == 0
                || !among.contains(found)
                || isBehind(found)
                || !found.node().probes().take(now)) {
            return null;
        }
        lastCopyNanos = now;
        found.callsAtCopy(callsAtSurvey);
        return found;
    }

    private static boolean isBehind(Target target) {
        ClientConnection opened = target.node().link().opened();
        return opened != null && opened.queuedBytes() > MAX_QUEUED_BEFORE_COPY;
    }
}
