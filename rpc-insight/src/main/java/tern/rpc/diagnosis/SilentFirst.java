package tern.rpc.diagnosis;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.excess.TimesByCause;
import tern.rpc.diagnosis.pool.PeerKinds;

/**
 * Puts a database or Redis server that does not answer before its consequences: waits for pools, locks, results and
 * threads, and peers that are slow or silent because they use the same server. These consequences often take more time
 * than the waits for the server itself, because only a few calls hold a connection to it.
 */
final class SilentFirst {

    /**
     * A database or Redis server that does not answer is put first only if it takes at least {@value} of the calls'
     * extra time (above their usual time).
     */
    private static final double MIN_SHARE = 0.05;

    /** The kinds of waits that may be consequences of a database or Redis server that does not answer. */
    private static final Set<Kind> WAITS = EnumSet.of(
            Kind.POOL,
            Kind.LOCK,
            Kind.QUEUE,
            Kind.RESULT,
            Kind.ELSEWHERE,
            Kind.EXECUTOR,
            Kind.LIMIT,
            Kind.TIMEOUT,
            Kind.CARRIER,
            Kind.UNEXPLAINED);

    private final TimesByCause byCause;
    private final Operations operations;

    SilentFirst(TimesByCause byCause, Operations operations) {
        this.byCause = byCause;
        this.operations = operations;
    }

    /** @param parts the causes, most expensive first */
    void sort(List<Part> parts) {
        if (parts.isEmpty() || !mayFollow(parts.get(0))) {
            return;
        }
        double least = MIN_SHARE * byCause.sum();
        parts.stream()
                .filter(part -> PeerKinds.isSilentStore(part) && byCause.of(part) >= least)
                .findFirst()
                .ifPresent(store -> {
                    parts.remove(store);
                    parts.add(0, store);
                });
    }

    private boolean mayFollow(Part first) {
        boolean isSlowPeer = (first.kind() == Kind.HTTP || first.kind() == Kind.RPC) && operations.isSlower(first);
        boolean isFailingPeer = first.kind() == Kind.PEER_FAILS && !PeerKinds.isSilentStore(first);
        return WAITS.contains(first.kind()) || isSlowPeer || isFailingPeer;
    }
}
