package tern.rpc.diagnosis.peer;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.Operations;

/**
 * Finds out at which of its providers a remote method became slower. If the method became slower at all providers, the
 * reason lies in the requests, or in something that the providers share, such as a database.
 */
public final class SlowProviders {

    /**
     * Several providers count as slow together only if the extra time (above the usual time) at each is at least
     * {@value} of the extra time at the slowest provider.
     */
    private static final double SIMILAR = 0.25;

    private final Evidence evidence;
    private final Operations operations;

    public SlowProviders(Evidence evidence, Operations operations) {
        this.evidence = evidence;
        this.operations = operations;
    }

    /** Returns the names of the recorded calls to the given method. Each name contains a provider. */
    public Set<String> all(String method) {
        Set<String> all = new TreeSet<>();
        for (List<EndedCall> calls : List.of(evidence.bad(), evidence.good())) {
            for (EndedCall call : calls) {
                for (NamedTimes.Entry entry : call.ledger().named()) {
                    String name = OperationNames.withoutStatus(entry.name());
                    if (entry.kind() == Phase.RPC && method.equals(OperationNames.method(name))) {
                        all.add(name);
                    }
                }
            }
        }
        return all;
    }

    /**
     * Returns the names of the recorded calls to the given method at the providers where late or failed calls take
     * longer than usual. Returns an empty set if the usual time of the method is unknown.
     */
    public Set<String> slower(String method) {
        Set<String> slower = operations.usualNamed(Phase.RPC, method) < 0 ? new TreeSet<>() : all(method);
        slower.removeIf(name -> operations.of(Phase.RPC, name).count() == 0 || !operations.isSlower(part(name)));
        return slower;
    }

    /**
     * Returns whether several providers offer the method, and it became slower at all of them.
     *
     * @param times the time by which late or failed calls exceed their usual time, by activity or wait
     */
    public boolean areAllSlower(String method, Times times) {
        Set<String> all = all(method);
        double largest =
                all.stream().mapToDouble(name -> times.of(part(name))).max().orElse(0);
        return all.size() > 1
                && largest > 0
                && all.stream().allMatch(name -> times.of(part(name)) >= SIMILAR * largest)
                && slower(method).equals(all);
    }

    private static Part part(String name) {
        return new Part(Kind.RPC, name);
    }
}
