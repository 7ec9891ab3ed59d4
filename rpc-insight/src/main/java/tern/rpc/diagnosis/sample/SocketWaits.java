package tern.rpc.diagnosis.sample;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.evidence.RunTime;

/**
 * Counts how often a call's thread waits for a socket. A thread gets a processor once after each wait, so the number of
 * its turns on a processor tells whether the thread waited once or several times between two samples.
 */
public final class SocketWaits {

    /**
     * The time between two consecutive samples of the same wait.
     *
     * @param turns the number of times that the thread got a processor in this time
     */
    public record Pair(Part part, double nanos, long turns) {}

    private final List<Pair> pairs = new ArrayList<>();
    private @Nullable Sample last; // the last sample if the thread waited for a socket; null otherwise
    private RunTime lastCounters = RunTime.UNKNOWN;

    /** @param counters reads the scheduler's counters of the thread; called only if the thread waits for a socket */
    public void add(Sample sample, Supplier<RunTime> counters) {
        if (sample.part().kind() != Part.Kind.SOCKET || !sample.isOwn()) {
            last = null;
            return;
        }
        RunTime now = counters.get();
        RunTime since = now.since(lastCounters);
        if (last != null && last.part().equals(sample.part()) && since.isKnown()) {
            pairs.add(new Pair(sample.part(), sample.atNanos() - last.atNanos(), since.turns()));
        }
        last = sample;
        lastCounters = now;
    }

    public List<Pair> pairs() {
        return pairs;
    }
}
