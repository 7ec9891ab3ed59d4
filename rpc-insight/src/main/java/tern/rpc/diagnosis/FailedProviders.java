package tern.rpc.diagnosis;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.Part.Kind;

/**
 * Merges the failures of several operations of one peer into one cause. If several methods of a provider fail with the
 * same status, the reason lies in the provider and not in the methods.
 */
final class FailedProviders {

    private static final String TEXT = ": ";
    private static final String AT = " at ";

    private FailedProviders() {}

    /**
     * The failure of an operation on a provider or HTTP peer. For an HTTP exchange, the component {@code service} is
     * empty.
     */
    private record Failed(String service, String address, String failure) {

        /**
         * Returns the operation, the peer and the failure from the name of a failed operation; null if the given
         * activity or wait is not a failed operation.
         */
        static @Nullable Failed of(Part part) {
            if (part.kind() == Kind.RPC && OperationNames.isFailing(part.name())) {
                return of(FailurePart.ofOperation(Phase.RPC, part.name()));
            }
            int end = part.kind() == Kind.PEER_FAILS ? part.name().lastIndexOf(TEXT) : -1;
            String operation = end < 0 ? "" : part.name().substring(0, end);
            String address = operation.isEmpty() ? "" : OperationNames.store(operation);
            if (address.isEmpty()) {
                return null;
            }
            String method = OperationNames.method(operation);
            return new Failed(
                    method == null ? "" : method.substring(0, Math.max(0, method.lastIndexOf('.'))),
                    address,
                    part.name().substring(end + TEXT.length()));
        }

        String key() {
            return address + TEXT + failure;
        }
    }

    /** Merges the failures of each peer with at least two operations that fail with the same status. */
    static void merge(TimesByCause byCause) {
        Map<String, List<Part>> byPeer = new TreeMap<>();
        Map<String, Set<String>> services = new TreeMap<>();
        for (Part part : byCause.longestFirst()) {
            Failed failed = Failed.of(part);
            if (failed != null) {
                byPeer.computeIfAbsent(failed.key(), unknown -> new ArrayList<>())
                        .add(part);
                services.computeIfAbsent(failed.key(), unknown -> new HashSet<>())
                        .add(failed.service());
            }
        }
        byPeer.forEach((peer, parts) -> {
            if (parts.size() > 1) {
                Set<String> of = services.getOrDefault(peer, Set.of());
                String service = of.size() == 1 ? of.iterator().next() : "";
                Part all = new Part(Kind.PEER_FAILS, (service.isEmpty() ? "" : service + AT) + peer);
                parts.forEach(part -> byCause.move(part, all));
            }
        });
    }

    /** Returns whether a call with the given failure failed for the reason that the cause names. */
    static boolean isOf(Part cause, @Nullable Part failure) {
        Failed failed = failure == null ? null : Failed.of(failure);
        return cause.equals(failure)
                || (failed != null
                        && (cause.name().equals(failed.key())
                                || cause.name().equals(failed.service() + AT + failed.key())));
    }
}
