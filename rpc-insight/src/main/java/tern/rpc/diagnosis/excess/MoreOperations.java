package tern.rpc.diagnosis.excess;

import java.util.List;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;

/**
 * Recognizes operations that became slow because calls run some operations more often than usual, for example after a
 * cache has lost its values. To load one value, code may need several operations. If all operations on a server became
 * slower, the additional operations probably overload the server.
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
     * Looks for operations of the given kind that have become more frequent in calls and together take more than half
     * of the time of all operations of this kind. If all operations on their server became slower, attributes the time
     * of the other operations to these operations.
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

    /**
     * Merges the longest operation with all operations that calls run equally often, both now and usually. All of them
     * have the same reason.
     */
    private void mergeTogether(List<Part> more) {
        Part longest = more.get(0);
        for (Part part : more.subList(1, more.size())) {
            if (counts.areEquallyFrequent(part, longest)) {
                byCause.pour(part, byCause.only(longest::equals), "calls also run " + part.name() + " more often");
            }
        }
    }

    /**
     * Returns whether the operations may run on the same server. For HTTP and RPC, the name of an operation contains
     * its peer.
     */
    private boolean mayBeOfSameServer(Part one, Part other) {
        boolean isPeer = one.kind() == Kind.HTTP || one.kind() == Kind.RPC;
        String peer = OperationNames.store(one.name());
        return isPeer
                ? !peer.isEmpty() && peer.equals(OperationNames.store(other.name()))
                : !operations.areOfOtherServers(one.name(), other.name());
    }
}
