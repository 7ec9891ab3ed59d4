package tern.rpc.diagnosis;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.Part.Kind;
import tern.rpc.diagnosis.Sampler.Sample;

/**
 * The whole time of one call by part: the sum of all parts is the time of the call. Exact for phases of the ledger and
 * named operations; the own time of a call is divided by samples of its thread.
 */
final class Account {

    /** The own time of a call before samples divide it. */
    static final Part OWN = Part.of(Kind.UNEXPLAINED);

    private static final int MIN_SAMPLES = 3;

    private Account() {}

    /**
     * The account of a call.
     *
     * @param own the samples of this call; empty if there are none
     * @param others how calls of the same method divide their own time, for a call with few samples; empty if unknown
     * @param pauses the pauses of the process
     */
    static Times of(EndedCall call, List<Sample> own, Times others, PauseTimes pauses) {
        Times times = byPhase(call);
        double sum = times.sum();
        if (sum > call.tookNanos() && sum > 0) {
            times.scale(call.tookNanos() / sum); // operations side by side
        } else {
            times.add(OWN, call.tookNanos() - sum);
        }
        takePausesOut(call, times, pauses);
        divideOwn(times, own, others);
        return times;
    }

    private static Times byPhase(EndedCall call) {
        CallLedger ledger = call.ledger();
        List<NamedTimes.Entry> named = ledger.named();
        Times times = new Times();
        for (Phase phase : Phase.values()) {
            double spent = ledger.nanos(phase, call.endedNanos());
            for (NamedTimes.Entry entry : named) {
                if (entry.kind() == phase) {
                    double part = Math.min(spent, (double) entry.nanos());
                    times.add(part(phase, entry.name()), part);
                    spent -= part;
                }
            }
            times.add(part(phase, ""), spent);
        }
        return times;
    }

    static Part part(Phase phase, String name) {
        return switch (phase) {
            case QUEUE -> Part.of(Kind.QUEUE);
            case DECODE -> Part.of(Kind.DECODE);
            case OWN -> OWN;
            case JDBC_CONNECTION -> new Part(Kind.POOL, name.isEmpty() ? "jdbc" : name);
            case REDIS_CONNECTION -> new Part(Kind.POOL, name.isEmpty() ? "jedis" : name);
            case HTTP_CONNECTION -> new Part(Kind.POOL, name.isEmpty() ? "http" : name);
            case SQL -> new Part(Kind.SQL, name);
            case REDIS -> new Part(Kind.REDIS, name);
            case HTTP -> new Part(Kind.HTTP, name);
            case RPC -> new Part(Kind.RPC, name);
            case CALLER_RUNS -> Part.of(Kind.CALLER_RUNS);
            case LOGGING -> Part.of(Kind.LOG);
            case UNATTRIBUTED -> Part.of(Kind.ELSEWHERE);
        };
    }

    /** The pauses during the call, taken from all other parts in proportion. */
    private static void takePausesOut(EndedCall call, Times times, PauseTimes pauses) {
        Times stood = pauses.between(call.startedNanos(), call.endedNanos());
        double paused = Math.min(stood.sum(), (double) call.tookNanos());
        if (paused <= 0 || times.sum() <= 0) {
            return;
        }
        times.scale(1 - paused / call.tookNanos());
        times.addAll(stood, paused / stood.sum());
    }

    private static void divideOwn(Times times, List<Sample> samples, Times others) {
        Times weights = weights(samples);
        if (samples.stream().filter(Account::isOwn).count() < MIN_SAMPLES && !others.isEmpty()) {
            weights = others;
        }
        double sum = weights.sum();
        if (sum > 0) {
            times.addAll(weights, times.remove(OWN) / sum);
        }
    }

    private static boolean isOwn(Sample sample) {
        return sample.phase() == Phase.OWN;
    }

    /**
     * What the samples say about the own time, as weights. Time in which a thread was ready to run but used no
     * processor belongs to the run queue.
     */
    static Times weights(List<Sample> samples) {
        Times weights = new Times();
        Sample before = null;
        for (Sample sample : samples) {
            if (isOwn(sample)) {
                double computing = sample.part().kind() == Kind.COMPUTING ? computingShare(before, sample) : 1;
                weights.add(sample.part(), Math.max(computing, 1e-3));
                weights.add(Part.of(Kind.RUN_QUEUE), 1 - computing);
            }
            before = sample;
        }
        return weights;
    }

    /** The share of processor time since the sample before, if both found the thread computing; else 1. */
    private static double computingShare(@Nullable Sample before, Sample sample) {
        if (before == null
                || before.cpuNanos() < 0
                || sample.cpuNanos() < 0
                || before.part().kind() != Kind.COMPUTING
                || sample.atNanos() <= before.atNanos()) {
            return 1;
        }
        double share = (double) (sample.cpuNanos() - before.cpuNanos()) / (sample.atNanos() - before.atNanos());
        return Math.max(0, Math.min(1, share));
    }

    /** All samples of a method's calls. */
    static Times weightsOf(List<List<Sample>> calls) {
        Times all = new Times();
        for (List<Sample> samples : new ArrayList<>(calls)) {
            all.addAll(weights(samples), 1);
        }
        return all;
    }
}
