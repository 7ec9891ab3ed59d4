package tern.rpc.diagnosis.peer;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.RedisCommands;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.data.LargeData;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.OperationCounts;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.excess.TimeOuts;
import tern.rpc.diagnosis.excess.TimesByCause;
import tern.rpc.diagnosis.stack.StackReader;

/**
 * Merges the causes that name the same peer into one: slow requests to several paths of an HTTP peer, slow calls to
 * several methods of a provider, several slow commands of a Redis server, and connections that the peer does not
 * accept. The symptoms of the merged cause name the time of each operation.
 */
public final class SickPeers {

    /** Operations are merged only if at least two of them each cause {@value} of the delay of late calls. */
    private static final double NOTABLE = 0.05;

    private final ExcessTime excess;
    private final Operations operations;
    private final OperationCounts counts;
    private final TimesByCause byCause;
    private final TimeOuts timeOuts;
    private final PeerFailures failures;
    private final LargeData data;

    public SickPeers(
            Evidence evidence, ExcessTime excess, Operations operations, OperationCounts counts, TimesByCause byCause) {
        this.excess = excess;
        this.operations = operations;
        this.counts = counts;
        this.byCause = byCause;
        this.timeOuts = new TimeOuts(evidence, excess, operations);
        this.failures = new PeerFailures(byCause);
        this.data = new LargeData(evidence, excess, operations);
    }

    public void merge() {
        for (Kind kind : List.of(Kind.HTTP, Kind.RPC, Kind.REDIS)) {
            Map<String, List<Part>> byPeer = new TreeMap<>();
            for (Part part : byCause.only(part -> part.kind() == kind).longestFirst()) {
                String peer = peerOf(part);
                if ((kind == Kind.REDIS || !peer.isEmpty()) && isSick(part)) {
                    byPeer.computeIfAbsent(peer, name -> new ArrayList<>()).add(part);
                }
            }
            Set<String> peers = new TreeSet<>(byPeer.keySet());
            peers.addAll(failures.peers(kind));
            peers.forEach(peer -> merge(kind, peer, byPeer.getOrDefault(peer, List.of())));
        }
    }

    private static String peerOf(Part part) {
        String all = OperationNames.storeOfAll(part);
        return all != null ? all : OperationNames.store(part.name());
    }

    /**
     * Returns whether the operation is slow because of its peer. Returns false if the reason is the number of
     * operations, a timeout, a failure, or the amount of data.
     */
    private boolean isSick(Part part) {
        return !part.name().startsWith(StackReader.CALLED)
                && !OperationNames.isFailing(part.name())
                && (part.name().isEmpty() || OperationNames.storeOfAll(part) != null || operations.isSlower(part))
                && !excess.isMostlyFailure(part)
                && !counts.areMany(part.kind(), part.name())
                && !counts.areMore(part)
                && !counts.areNew(part)
                && timeOuts.of(part) == null
                && !data.isLarge(part)
                && !(part.kind() == Kind.REDIS && isBlocking(part));
    }

    private static boolean isBlocking(Part part) {
        return RedisCommands.isBlocking(part.name()) || RedisCommands.stopsServer(part.name());
    }

    private void merge(Kind kind, String peer, List<Part> parts) {
        double least = NOTABLE * byCause.sum();
        List<Part> failed = failures.of(kind, peer);
        List<Part> all = new ArrayList<>(failed);
        all.addAll(parts);
        long notable = all.stream().filter(part -> byCause.of(part) >= least).count();
        if (notable < 2) {
            return;
        }
        Part cause = failed.isEmpty() ? causeOf(kind, peer, parts) : failed.get(0);
        Times one = new Times();
        one.add(cause, 1);
        for (Part part : all) {
            if (!part.equals(cause)) {
                byCause.pour(
                        part,
                        one,
                        (failed.contains(part) ? "calls fail: " : TimesByCause.WAIT_FOR)
                                + (part.name().isEmpty() ? "other operations" : part.name()));
            }
        }
    }

    /**
     * Returns the cause that represents the peer: the whole peer, or its longest operation. A Redis server runs one
     * command after another, so several slow commands show that the server is slow. Any other peer may answer other
     * requests as quickly as usual, so its longest operation represents it, unless earlier rules have found that the
     * whole peer is slow.
     */
    private static Part causeOf(Kind kind, String peer, List<Part> parts) {
        Part all = peer.isEmpty() ? Part.of(kind) : new Part(kind, OperationNames.ALL + peer);
        return kind == Kind.REDIS || parts.contains(all) ? all : parts.get(0);
    }
}
