package tern.rpc.diagnosis.peer;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import tern.rpc.StatusCode;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.excess.TimesByCause;

/** Finds the failures of a peer among the causes. A peer that does not answer or is slow often also fails. */
final class PeerFailures {

    /** Matches the name of a failed peer that ends with an exception of its code. */
    private static final Pattern EXCEPTION = Pattern.compile("(?:Exception|Error)\\b[^:]*$");

    /** The text between the peer and its failure in the name of a failed peer. */
    private static final String TEXT = ": ";

    private final TimesByCause byCause;

    PeerFailures(TimesByCause byCause) {
        this.byCause = byCause;
    }

    /**
     * Returns the failures of the peer, most expensive first. Exceptions of the peer's code are left out, because each
     * of them may need its own change.
     *
     * @param kind the kind of the operations on the peer
     */
    List<Part> of(Kind kind, String peer) {
        return all().stream()
                .filter(part -> isOf(part, kind, peer))
                .filter(part -> !EXCEPTION.matcher(part.name()).find())
                .toList();
    }

    /** Returns the failures of calls that could not be sent to the given provider, or that got no answer from it. */
    List<Part> unanswered(String address) {
        return all().stream()
                .filter(part -> part.name().endsWith(TEXT + StatusCode.UNAVAILABLE)
                        && address.equals(FailedProviders.addressOf(part)))
                .toList();
    }

    /** Returns the HTTP peers or providers that fail. */
    Set<String> peers(Kind kind) {
        Set<String> peers = new TreeSet<>();
        for (Part part : kind == Kind.REDIS ? List.<Part>of() : all()) {
            String peer = OperationNames.store(failed(part));
            if (!peer.isEmpty()) {
                peers.add(peer);
            }
        }
        return peers;
    }

    private List<Part> all() {
        return byCause.only(part -> part.kind() == Kind.PEER_FAILS).longestFirst();
    }

    /** Returns the operation, peer or store in the name of a failure. */
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
