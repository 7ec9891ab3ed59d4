package tern.rpc.diagnosis.excess;

import java.util.List;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;

/**
 * Attributes the time of operations to those that calls run more often than usual. A cache that has lost its values
 * leads to one additional operation or to several, because the code may need several of them to load a value. If all
 * operations of their server became slower, the additional operations keep the server busy.
 */
public final class MoreOperations {

    private final Operations operations;
    private final OperationCounts counts;
    private final TimesByCause byCause;

    public MoreOperations(Operations operations, OperationCounts counts, TimesByCause byCause) {
        this.operations = operations;
        this.counts = counts;
        this.byCause = byCause;
    }

    /**
     * Looks for operations of the given kind that together take more than half of the time of their kind and have become
     * more frequent in calls. If their server became slower, attributes the time of the other operations to them.
     *
     * @return whether there are such operations
     */
    public boolean passOn(Kind kind) {
        List<Part> ofKind = byCause.longestFirst().stream()
                .filter(part -> part.kind() == kind)
                .toList();
        List<Part> more = ofKind.stream().filter(counts::areMore).toList();
        if (more.isEmpty() || 2 * byCause.only(more::contains).sum() <= byCause.sum(kind)) {
            return false;
        }
        if (operations.isServerSlower(more.get(0))) {
            for (Part part : ofKind) {
                if (!more.contains(part)) {
                    Times causes = byCause.only(one -> more.contains(one) && mayBeOfSameServer(part, one));
                    byCause.pour(part, causes, TimesByCause.WAIT_FOR + part.name());
                }
            }
        }
        mergeTogether(more);
        return true;
    }

    /** Merges the operations that calls run as often as the longest one, now and usually: one reason leads to all. */
    private void mergeTogether(List<Part> more) {
        Part longest = more.get(0);
        for (Part part : more.subList(1, more.size())) {
            if (counts.areEquallyFrequent(part, longest)) {
                byCause.pour(part, byCause.only(longest::equals), "calls also run " + part.name() + " more often");
            }
        }
    }

    /** Returns whether the operations may run on the same server. The name of a peer is always known. */
    private boolean mayBeOfSameServer(Part one, Part other) {
        boolean isPeer = one.kind() == Kind.HTTP || one.kind() == Kind.RPC;
        String peer = OperationNames.store(one.name());
        return isPeer
                ? !peer.isEmpty() && peer.equals(OperationNames.store(other.name()))
                : !operations.areOfOtherServers(one.name(), other.name());
    }
}
