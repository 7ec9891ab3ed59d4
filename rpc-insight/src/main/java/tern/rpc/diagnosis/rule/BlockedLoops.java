package tern.rpc.diagnosis.rule;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.cause.CauseDescription;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.sample.SampledCall;

/** Finds the code of late or failed calls that blocks event loops. */
public final class BlockedLoops {

    private BlockedLoops() {}

    /**
     * Returns the event loop that is blocked most often by calls that spend time on the given activity or wait. Returns
     * null if fewer than half of these calls block an event loop. An operation blocks the loop only if the loop's
     * thread waits for the operation's result.
     */
    public static @Nullable String loopOf(Part part, Evidence evidence, ExcessTime excess) {
        Phase phase = Operations.phase(part.kind());
        boolean isOwn = part.kind() == Kind.COMPUTING || part.kind() == Kind.LOCK;
        if (phase == null && !isOwn && part.kind() != Kind.EVENT_LOOP) {
            return null;
        }
        Map<String, Integer> loops = new TreeMap<>();
        int calls = 0;
        for (ExcessTime.Counted counted : excess.accounts) {
            SampledCall samples = evidence.samples().get(counted.call().ledger());
            if (samples == null
                    || (part.kind() != Kind.EVENT_LOOP && counted.times().of(part) <= 0)) {
                continue;
            }
            boolean keeps = isOwn
                    ? 2 * samples.loopLooks >= samples.looks
                    : samples.list.stream().anyMatch(sample -> blocks(sample, phase == null ? sample.phase() : phase));
            calls += keeps || part.kind() != Kind.EVENT_LOOP ? 1 : 0;
            if (keeps && samples.eventLoop != null) {
                loops.merge(samples.eventLoop, 1, Integer::sum);
            }
        }
        int all = loops.values().stream().mapToInt(Integer::intValue).sum();
        return 2 * all < Math.max(1, calls)
                ? null
                : loops.entrySet().stream()
                        .max(Map.Entry.comparingByValue())
                        .map(Map.Entry::getKey)
                        .orElse(null);
    }

    private static boolean blocks(Sample sample, Phase phase) {
        return sample.part().kind() == Kind.EVENT_LOOP && sample.phase() == phase;
    }

    /**
     * Returns how long a late or failed call blocks an event loop on average, by the code that blocks the loop. This
     * time includes the waits of the loop's thread for results of operations.
     */
    static Times blocked(Evidence evidence, ExcessTime excess) {
        Times blocked = new Times();
        blocked.addAll(excess.account.only(part -> part.kind() == Kind.EVENT_LOOP), 1);
        for (ExcessTime.Counted counted : excess.accounts) {
            SampledCall samples = evidence.samples().get(counted.call().ledger());
            if (samples == null) {
                continue;
            }
            for (Phase phase : List.of(Phase.SQL, Phase.REDIS, Phase.HTTP, Phase.RPC)) {
                List<Sample> looks = samples.list.stream()
                        .filter(sample -> sample.phase() == phase)
                        .toList();
                double nanos = counted.times().sum(part -> Operations.phase(part.kind()) == phase);
                for (Sample look : looks) {
                    if (blocks(look, phase)) {
                        blocked.add(look.part(), nanos / looks.size() / excess.accounts.size());
                    }
                }
            }
        }
        return blocked;
    }

    /**
     * Returns the cause description for code that blocks an event loop.
     *
     * @param place the line that blocks the loop, with the method that it calls
     */
    public static CauseDescription describe(Part part, String place, String loop) {
        return new CauseDescription(
                "EVENT LOOP BLOCKED",
                part.name(),
                Change.of(
                        Where.CODE,
                        "move the code at " + place + " off the event loop " + loop
                                + ": use a non-blocking client, or run this code on other threads"
                                + " (subscribeOn(Schedulers.boundedElastic()), an executor); all other requests of this loop wait for it"),
                List.of());
    }
}
