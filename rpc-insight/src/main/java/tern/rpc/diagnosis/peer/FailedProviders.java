package tern.rpc.diagnosis.peer;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.excess.TimesByCause;
import tern.rpc.diagnosis.failure.FailurePart;

/**
 * Merges the failures of several operations of one peer into one cause. If several methods of a provider fail with the
 * same status, the provider is the cause and not its methods. Then merges the failures of several providers. If all
 * providers fail equally often with the same status, the cause is their code or a resource that they share.
 */
public final class FailedProviders {

    private static final String TEXT = ": ";
    private static final String AT = " at ";
    private static final String PROVIDERS = " providers";

    /**
     * Providers count as failing equally often if the failures of each provider take at least {@value} of the time that
     * the failures of any other provider take.
     */
    private static final double ALIKE = 0.3;

    private FailedProviders() {}

    /** A peer whose operations fail with the same status. */
    private record Peer(String address, String failure) {

        /** Returns the name of the failures, for example {@code stock-1:20880: RESOURCE_EXHAUSTED}. */
        String title() {
            return address + TEXT + failure;
        }
    }

    /**
     * The remote method or service that fails at a provider, and its failure.
     *
     * @param label the remote method or the service; empty if several services fail
     */
    private record Failing(String label, String failure) {}

    private record AtProvider(Failing failing, String address) {}

    /**
     * The failure of an operation on a provider or HTTP peer. For an HTTP exchange, the component {@code service} is
     * empty.
     */
    private record Failed(String service, Peer peer) {

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
                    new Peer(address, part.name().substring(end + TEXT.length())));
        }

        /** Returns the failure of the given method; null if no method of a provider failed. */
        @Nullable
        AtProvider atProvider(@Nullable String method) {
            return service.isEmpty() || method == null
                    ? null
                    : new AtProvider(new Failing(method, peer.failure), peer.address);
        }
    }

    /** Merges the failures of each peer with at least two operations that fail with the same status. */
    public static void merge(TimesByCause byCause) {
        Map<Peer, List<Part>> byPeer = new LinkedHashMap<>();
        Map<Peer, Set<String>> services = new HashMap<>();
        for (Part part : byCause.longestFirst()) {
            Failed failed = Failed.of(part);
            if (failed != null) {
                byPeer.computeIfAbsent(failed.peer, unknown -> new ArrayList<>())
                        .add(part);
                services.computeIfAbsent(failed.peer, unknown -> new HashSet<>())
                        .add(failed.service);
            }
        }
        Map<Part, AtProvider> merged = new HashMap<>();
        byPeer.forEach((peer, parts) -> {
            if (parts.size() > 1) {
                Set<String> of = services.getOrDefault(peer, Set.of());
                String service = of.size() == 1 ? of.iterator().next() : "";
                Part all = new Part(Kind.PEER_FAILS, at(service) + peer.title());
                parts.forEach(part -> byCause.move(part, all));
                if (of.stream().noneMatch(String::isEmpty)) {
                    merged.put(all, new AtProvider(new Failing(service, peer.failure), peer.address));
                }
            }
        });
        mergeProviders(byCause, merged);
    }

    /**
     * Merges the failures of providers that fail equally often with the same status.
     *
     * @param merged the causes that contain several operations of one provider
     */
    private static void mergeProviders(TimesByCause byCause, Map<Part, AtProvider> merged) {
        Map<Failing, Map<String, Part>> byFailure = new LinkedHashMap<>(); // for each failure, the causes by address
        for (Part part : byCause.longestFirst()) {
            Failed failed = Failed.of(part);
            AtProvider known = merged.get(part);
            AtProvider at =
                    known != null || failed == null ? known : failed.atProvider(OperationNames.method(part.name()));
            if (at != null) {
                byFailure
                        .computeIfAbsent(at.failing, unknown -> new TreeMap<>())
                        .put(at.address, part);
            }
        }
        byFailure.forEach((failing, parts) -> {
            double most = parts.values().stream().mapToDouble(byCause::of).max().orElse(0);
            double least =
                    parts.values().stream().mapToDouble(byCause::of).min().orElse(0);
            if (parts.size() > 1 && least >= ALIKE * most) {
                String name = at(failing.label) + parts.size() + PROVIDERS + TEXT + failing.failure;
                Part all = new Part(Kind.PEER_FAILS, name);
                parts.values().forEach(part -> byCause.move(part, all));
            }
        });
    }

    /** Returns the beginning of a name, for example {@code StockService at}; empty if the label is empty. */
    private static String at(String label) {
        return label.isEmpty() ? "" : label + AT;
    }

    /** Returns whether the cause represents the merged failures of several providers. */
    public static boolean isOfSeveral(Part cause) {
        return cause.kind() == Kind.PEER_FAILS && cause.name().contains(PROVIDERS + TEXT);
    }

    /** Returns the address of the provider that failed; null if no provider failed. */
    public static @Nullable String addressOf(@Nullable Part failure) {
        Failed failed = failure == null ? null : Failed.of(failure);
        return failed == null || failed.service.isEmpty() ? null : failed.peer.address;
    }

    /** Returns whether the given cause explains the given failure. */
    public static boolean isOf(Part cause, @Nullable Part failure) {
        Failed failed = failure == null ? null : Failed.of(failure);
        if (failed != null && failure != null && isOfSeveral(cause)) {
            String label = cause.name().contains(AT)
                    ? cause.name().substring(0, cause.name().indexOf(AT))
                    : "";
            String method = String.valueOf(OperationNames.method(failure.name()));
            return cause.name().endsWith(TEXT + failed.peer.failure)
                    && (label.isEmpty() || label.equals(method) || label.equals(failed.service));
        }
        return cause.equals(failure)
                || (failed != null
                        && (cause.name().equals(failed.peer.title())
                                || cause.name().equals(failed.service + AT + failed.peer.title())));
    }
}
