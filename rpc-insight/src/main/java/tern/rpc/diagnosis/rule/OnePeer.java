package tern.rpc.diagnosis.rule;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.RedisCommands;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.excess.OperationCounts;
import tern.rpc.diagnosis.excess.TimeOuts;
import tern.rpc.diagnosis.excess.TimesByCause;
import tern.rpc.diagnosis.stack.StackReader;

/**
 * Merges the causes that name the same peer into one: slow requests to several paths of an HTTP peer, slow calls to
 * several methods of a provider, several slow commands of a Redis server, and connections that the peer does not
 * accept. The symptoms of the merged cause name the time of each operation.
 */
final class OnePeer extends Rule {

    /** Operations are merged only if at least two of them take {@value} of the extra time each. */
    private static final double NOTABLE = 0.05;

    /** Matches the name of a failed peer that ends with an exception of its code. */
    private static final Pattern EXCEPTION = Pattern.compile("(?:Exception|Error)\\b[^:]*$");

    /** The text between the peer and its failure in the name of a failed peer. */
    private static final String TEXT = ": ";

    private final OperationCounts counts;
    private final TimeOuts timeOuts;
    private final LargeData data;

    OnePeer(Rule other, OperationCounts counts) {
        super(other);
        this.counts = counts;
        this.timeOuts = new TimeOuts(evidence, excess, operations);
        this.data = new LargeData(evidence, excess, operations);
    }

    void merge() {
        for (Kind kind : List.of(Kind.HTTP, Kind.RPC, Kind.REDIS)) {
            Map<String, List<Part>> byPeer = new TreeMap<>();
            for (Part part : byCause.only(part -> part.kind() == kind).longestFirst()) {
                String peer = peerOf(part);
                if ((kind == Kind.REDIS || !peer.isEmpty()) && isSick(part)) {
                    byPeer.computeIfAbsent(peer, name -> new ArrayList<>()).add(part);
                }
            }
            Set<String> peers = new TreeSet<>(byPeer.keySet());
            peers.addAll(failedPeers(kind));
            peers.forEach(peer -> merge(kind, peer, byPeer.getOrDefault(peer, List.of())));
        }
    }

    private static String peerOf(Part part) {
        String all = OperationNames.storeOfAll(part);
        return all != null ? all : OperationNames.store(part.name());
    }

    /** Returns whether the operation is slow because of its peer, and not because of its number, timeout or data. */
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
        List<Part> failures = failuresOf(kind, peer);
        List<Part> all = new ArrayList<>(failures);
        all.addAll(parts);
        long notable = all.stream().filter(part -> byCause.of(part) >= least).count();
        if (notable < 2) {
            return;
        }
        Part cause = failures.isEmpty() ? causeOf(kind, peer, parts) : failures.get(0);
        Times one = new Times();
        one.add(cause, 1);
        for (Part part : all) {
            if (!part.equals(cause)) {
                byCause.pour(
                        part,
                        one,
                        (failures.contains(part) ? "calls fail: " : TimesByCause.WAIT_FOR)
                                + (part.name().isEmpty() ? "other operations" : part.name()));
            }
        }
    }

    /**
     * Returns the part that represents the peer. A Redis server runs one command after another, so several slow
     * commands show that the server is slow. A peer may answer other requests as quickly as usual, so the longest
     * operation represents it, unless earlier rules have found that the whole peer is slow.
     */
    private static Part causeOf(Kind kind, String peer, List<Part> parts) {
        Part all = peer.isEmpty() ? Part.of(kind) : new Part(kind, OperationNames.ALL + peer);
        return kind == Kind.REDIS || parts.contains(all) ? all : parts.get(0);
    }

    /**
     * Returns the failures of the peer, most expensive first. Exceptions of the peer's code are left out, because each of
     * them may need its own change.
     */
    private List<Part> failuresOf(Kind kind, String peer) {
        return byCause.longestFirst().stream()
                .filter(part -> part.kind() == Kind.PEER_FAILS && isOf(part, kind, peer))
                .filter(part -> !EXCEPTION.matcher(part.name()).find())
                .toList();
    }

    /** Returns the HTTP peers or providers that fail. */
    private Set<String> failedPeers(Kind kind) {
        Set<String> peers = new TreeSet<>();
        for (Part part : byCause.only(part -> part.kind() == Kind.PEER_FAILS && kind != Kind.REDIS)
                .longestFirst()) {
            String peer = OperationNames.store(failed(part));
            if (!peer.isEmpty()) {
                peers.add(peer);
            }
        }
        return peers;
    }

    private static String failed(Part failure) {
        return failure.name().substring(0, Math.max(0, failure.name().lastIndexOf(TEXT)));
    }

    private static boolean isOf(Part failure, Kind kind, String peer) {
        String failed = failed(failure);
        return kind == Kind.REDIS
                ? failed.startsWith("Redis") && (peer.isEmpty() || failed.contains(peer))
                : failed.equals(peer)
                        || failed.endsWith(" " + peer)
                        || OperationNames.store(failed).equals(peer);
    }
}
