package tern.rpc.diagnosis.account;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.evidence.RunTime;

/**
 * Divides the time of calls in proportion to samples. The time outside of operations (a call's own time) is divided
 * among the activities of the call's thread. Host name lookups, waits for a processor, and work of this process that
 * were sampled during an operation are subtracted from the operation's time. Not thread-safe.
 */
public final class Shares {

    private static final double MIN_MOVED = 0.1;
    private static final double MIN_WEIGHT = 1e-3;

    // The relative weights of the activities in the calls' own time, from all samples that are not in "unmeasured".
    private final Times measured = new Times();

    // For each activity, the number of samples of running code whose processor time is not known: the first sample of
    // a call, and all samples of virtual threads.
    private final Times unmeasured = new Times();

    // For each activity, how the threads used the time between consecutive samples of running code, or shortly after a
    // sample.
    private final Map<Part, Times> uses = new HashMap<>();
    // For each activity, how the threads used the time before the first of such samples. Until then, a thread has
    // mostly waited, and each of its short runs began with a wait for a processor.
    private final Map<Part, Times> firstUses = new LinkedHashMap<>();
    // For each operation, the activities and waits that take a share of the operation's time. The weight of an activity
    // or wait is its number of samples.
    private final Map<Phase, Times> moved = new EnumMap<>(Phase.class);
    private final Map<Phase, Double> looks = new EnumMap<>(Phase.class);
    private final double waitingShare;
    private int ownLooks;

    public Shares() {
        this(0);
    }

    /**
     * @param waitingShare how long threads wait for a processor, as a share of the time that they run or wait for a
     *     processor; used for activities without any sample whose processor time is known
     */
    public Shares(double waitingShare) {
        this.waitingShare = waitingShare;
    }

    /**
     * Adds the samples of one call to the weights of the activities and waits.
     *
     * @param samples the call's samples, oldest first
     */
    public void add(List<Sample> samples) {
        Sample before = null;
        List<Sample> run = new ArrayList<>(); // consecutive samples of running code whose processor time is known
        for (Sample sample : samples) {
            boolean runs = sample.isOwn() && sample.isComputing();
            if (!runs) {
                addRun(run);
                run.clear();
            }
            if (sample.isOwn()) {
                ownLooks++;
                addOwn(before, sample, run.isEmpty());
            } else {
                addOperation(before, sample);
            }
            if (runs && sample.cpuNanos() >= 0) {
                run.add(sample);
            }
            before = sample;
        }
        addRun(run);
    }

    public int ownLooks() {
        return ownLooks;
    }

    /**
     * Adds how a thread that ran the code of the given activity used the time shortly after a sample. Blocked time does
     * not count, because the kernel counts a wait for a processor only when the wait ends.
     */
    public void addUse(Part part, RunTime time) {
        double ready = (double) time.runNanos() + time.delayNanos();
        if (time.isKnown() && ready > 0) {
            Use use = new Use(time.runNanos() / ready, time.delayNanos() / ready, 0);
            uses.computeIfAbsent(part, code -> new Times()).addAll(use.of(part), 1);
        }
    }

    /** Returns whether the processor time of the given code is known from consecutive samples or readings. */
    public boolean isMeasured(Part code) {
        return uses.containsKey(code);
    }

    /** @param isFirst whether the previous sample does not show running code */
    private void addOwn(@Nullable Sample before, Sample sample, boolean isFirst) {
        if (!sample.isComputing()) {
            measured.add(sample.part(), 1);
        } else if (before == null || sample.cpuNanos() < 0) {
            unmeasured.add(sample.part(), 1);
        } else if (isFirst) {
            firstUses
                    .computeIfAbsent(sample.part(), part -> new Times())
                    .addAll(Use.between(before, sample).of(sample.part()), 1);
        }
    }

    /**
     * Adds the weights of consecutive samples of running code. They are measured as a whole, because the kernel counts
     * a wait for a processor only when the wait ends.
     */
    private void addRun(List<Sample> run) {
        if (run.size() < 2) {
            return;
        }
        Use use = Use.between(run.get(0), run.get(run.size() - 1));
        for (Sample sample : run.subList(1, run.size())) {
            Times times = use.of(sample.part());
            uses.computeIfAbsent(sample.part(), part -> new Times()).addAll(times, 1);
            measured.addAll(times, 1);
        }
    }

    /**
     * Returns the relative weights of the activities in the calls' own time. A sample whose processor time is not known
     * is divided like the measured samples of the same activity, and so is the first of consecutive samples of running
     * code. Without such samples, a sample is divided like the process's mean. The mean alone would be wrong for code
     * that computes for a long time, because the mean mostly consists of short runs, and each run begins with a wait
     * for a processor.
     */
    public Times own() {
        Times all = new Times();
        all.addAll(measured, 1);
        firstUses.forEach((part, first) -> {
            Times use = uses.getOrDefault(part, first);
            all.addAll(use, first.sum() / use.sum());
        });
        for (Part part : unmeasured.longestFirst()) {
            Times mean = new Use(1 - waitingShare, waitingShare, 0).of(part);
            Times use = uses.getOrDefault(part, firstUses.getOrDefault(part, mean));
            all.addAll(use, unmeasured.of(part) / use.sum());
        }
        return all;
    }

    private void addOperation(@Nullable Sample before, Sample sample) {
        looks.merge(sample.phase(), 1.0, Double::sum);
        Times of = moved.computeIfAbsent(sample.phase(), phase -> new Times());
        if (sample.isApart()) {
            of.add(sample.part(), 1);
        } else if (sample.part().kind() == Kind.CARRIER) { // a virtual thread's wait for a processor is not measured
            of.add(sample.part(), 1);
        } else if (before != null && before.delayNanos() >= 0 && sample.delayNanos() >= 0) {
            double passed = sample.atNanos() - before.atNanos();
            double delayed = sample.delayNanos() - before.delayNanos();
            of.add(Part.of(Kind.RUN_QUEUE), passed <= 0 ? 0 : Math.min(1, delayed / passed));
        }
    }

    /**
     * Returns the shares of an operation's time that belong to other activities and waits. Shares below
     * {@link #MIN_MOVED} stay with the operation.
     */
    public Times movedFrom(Phase phase) {
        Times shares = new Times();
        Times found = moved.get(phase);
        double all = looks(phase);
        if (found != null && all > 0) {
            for (Part part : found.longestFirst()) {
                double share = found.of(part) / all;
                shares.add(part, share < MIN_MOVED ? 0 : share);
            }
        }
        return shares;
    }

    /** Returns the number of samples that were taken during the given operation. */
    public double looks(Phase phase) {
        return looks.getOrDefault(phase, 0.0);
    }

    /**
     * How a thread that appears to be computing spent the time since its previous sample: computing, waiting for a
     * processor, or blocked. The sum of the three shares is 1.
     */
    private record Use(double computing, double delayed, double blocked) {

        private static final Use COMPUTES = new Use(1, 0, 0);

        /**
         * Returns how a thread that runs the code of the given activity spends its time: the time of each activity and
         * wait.
         */
        Times of(Part part) {
            Times times = new Times();
            times.add(part, Math.max(computing, MIN_WEIGHT));
            times.add(Part.of(Kind.RUN_QUEUE), delayed);
            times.add(new Part(Kind.NATIVE, part.name()), blocked);
            return times;
        }

        static Use between(Sample before, Sample sample) {
            if (before.cpuNanos() < 0 || sample.cpuNanos() < 0) {
                return COMPUTES;
            }
            double passed = sample.atNanos() - before.atNanos();
            double cpu = Math.max(0, sample.cpuNanos() - before.cpuNanos());
            boolean known = before.delayNanos() >= 0 && sample.delayNanos() >= 0;
            double delay = known ? Math.max(0, sample.delayNanos() - before.delayNanos()) : 0;
            if (passed <= 0) {
                return COMPUTES;
            }
            if (before.isComputing() && before.isOwn()) {
                double computing = Math.min(1, cpu / passed);
                double delayed = known ? Math.min(1 - computing, delay / passed) : 1 - computing;
                return new Use(computing, delayed, 1 - computing - delayed);
            }
            double ready = cpu + delay;
            return ready <= 0 ? COMPUTES : new Use(cpu / ready, delay / ready, 0);
        }
    }
}
