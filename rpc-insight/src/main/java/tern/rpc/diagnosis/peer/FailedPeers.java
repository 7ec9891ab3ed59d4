package tern.rpc.diagnosis.peer;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.excess.TimesByCause;
import tern.rpc.diagnosis.failure.FailurePart;
import tern.rpc.diagnosis.pool.PeerKinds;
import tern.rpc.diagnosis.pool.PoolVerdict;

/**
 * Attributes long waits for a peer to the failure of this peer. If a peer accepts no connections, calls wait for a
 * connection or an answer until a timeout ends the wait. The exceptions of these calls name the failure. Calls that are
 * still waiting are assumed to wait for the same reason.
 */
public final class FailedPeers {

    /** The suffix of failure names for peers that do not accept connections in time. */
    private static final String NOT_ACCEPTED = ": " + Part.NOT_ACCEPTED;

    private final ExcessTime excess;
    private final PeerKinds kinds;
    private final TimesByCause byCause;

    // for each wait, the calls that ended after they had waited for a long time
    private final Map<Part, Ended> byWait = new HashMap<>();
    private final Map<Kind, Ended> byKind = new HashMap<>();

    /** Calls that ended after a long wait for the same peer or pool. */
    private static final class Ended {
        int calls;
        final Times failures = new Times(); // for each failure of a peer, the number of calls with this failure

        void add(@Nullable Part failure) {
            calls++;
            if (failure != null) {
                failures.add(failure, 1);
            }
        }

        /** Returns whether the failure of a peer ended at least half of the calls. */
        boolean haveFailed() {
            return calls > 0 && 2 * failures.sum() >= calls;
        }
    }

    public FailedPeers(ExcessTime excess, Map<String, PoolVerdict> pools, TimesByCause byCause) {
        this.excess = excess;
        this.kinds = new PeerKinds(pools);
        this.byCause = byCause;
    }

    public void apply() {
        for (ExcessTime.Counted counted : excess.accounts) {
            if (counted.call().ledger().isEnded()) {
                count(counted);
            }
        }
        for (Part wait : byCause.longestFirst()) {
            Ended named = byWait.get(withoutStatus(wait));
            Ended ended = named == null ? ofUnnamed(wait) : named;
            if (ended != null && ended.haveFailed()) {
                byCause.pour(wait, ended.failures, TimesByCause.WAIT_FOR + waitedFor(wait) + " until it fails");
            }
        }
        mergeExchanges();
    }

    /**
     * Attributes the time of exchanges to the failure of their peer if the failure costs more time than the exchanges.
     * A peer that does not accept connections in time also delays the exchanges that succeed. Without this attribution,
     * the same peer would be reported as two causes.
     */
    private void mergeExchanges() {
        for (Part failure : byCause.only(
                        part -> part.kind() == Kind.PEER_FAILS && part.name().endsWith(NOT_ACCEPTED))
                .longestFirst()) {
            Times one = new Times();
            one.add(failure, 1);
            for (Part exchange : byCause.longestFirst()) {
                boolean isSmaller = exchange.kind() == Kind.HTTP && byCause.of(exchange) <= byCause.of(failure);
                if (isSmaller && isOf(exchange, failure)) {
                    byCause.pour(exchange, one, TimesByCause.WAIT_FOR + exchange.name());
                }
            }
        }
    }

    private static boolean isOf(Part exchange, Part failure) {
        String peer = OperationNames.store(exchange.name());
        String failed = failure.name().substring(0, failure.name().length() - NOT_ACCEPTED.length());
        return !peer.isEmpty()
                && (failed.endsWith(" " + peer) || OperationNames.store(failed).equals(peer));
    }

    /**
     * Removes the failure from the name of an operation, because the name of a running operation contains no failure.
     */
    private static Part withoutStatus(Part wait) {
        return new Part(wait.kind(), OperationNames.withoutStatus(wait.name()));
    }

    private void count(ExcessTime.Counted counted) {
        Part wait = longWait(counted);
        Kind kind = wait == null ? null : kinds.of(wait, counted.call().ledger());
        if (wait != null && kind != null) {
            Part failure = failureOf(counted.call(), kind);
            byWait.computeIfAbsent(withoutStatus(wait), unknown -> new Ended()).add(failure);
            byKind.computeIfAbsent(kind, unknown -> new Ended()).add(failure);
        }
    }

    /**
     * Returns the wait for a peer that took at least half of the call's time and at least as long as the latency
     * target; null if there is none.
     */
    private @Nullable Part longWait(ExcessTime.Counted counted) {
        EndedCall call = counted.call();
        Times waits = counted.times().only(part -> kinds.of(part, call.ledger()) != null);
        Part longest = waits.isEmpty() ? null : waits.longestFirst().get(0);
        return longest != null && waits.of(longest) >= excess.targetNanos() && 2 * waits.of(longest) >= call.tookNanos()
                ? longest
                : null;
    }

    /**
     * Returns the failure of a peer of the given kind that ended the call, or the limit of this process because of which
     * it cannot reach the peer; null if there is none.
     */
    private @Nullable Part failureOf(EndedCall call, Kind kind) {
        Part failure = excess.failureOf(call);
        if (failure != null && FailurePart.isOfOwnLimit(call)) {
            return failure;
        }
        if (failure == null || failure.kind() != Kind.PEER_FAILS) {
            return null;
        }
        Kind failed = PeerKinds.of(FailurePart.phase(call));
        return failed == null || failed == kind ? failure : null;
    }

    /**
     * Returns the ended calls that waited for the same kind of peer as the given wait. Returns null if the wait's name
     * identifies one of several peers. Operations of running calls have no names yet, so they are compared by kind
     * only.
     */
    private @Nullable Ended ofUnnamed(Part wait) {
        boolean isOperation = wait.name().isEmpty() && Operations.phase(wait.kind()) != null;
        Kind kind = isOperation
                ? wait.kind()
                : wait.kind() == Kind.POOL && !kinds.isOneOfSeveral(wait) ? kinds.ofPool(wait) : null;
        return kind == null ? null : byKind.get(kind);
    }

    private static String waitedFor(Part wait) {
        if (wait.kind() == Kind.POOL) {
            return "a connection of \"" + wait.name() + "\"";
        }
        return wait.name().isEmpty() ? "its answer" : wait.name();
    }
}
