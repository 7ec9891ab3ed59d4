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
 * same status, the reason lies in the provider and not in the methods. Then merges the failures of several providers:
 * if all of them fail alike, the reason lies in their code or in something that they share.
 */
final class FailedProviders {

    private static final String TEXT = ": ";
    private static final String AT = " at ";
    private static final String PROVIDERS = " providers";

    /** Providers fail alike if the failures of each one take at least this share of the time of any other. */
    private static final double ALIKE = 0.3;

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

    /**
     * What fails at a provider.
     *
     * @param label the remote method or the service; empty if several services fail
     */
    private record AtProvider(String label, String address, String failure) {

        /** Returns null if the given activity or wait is no failure of a provider. */
        static @Nullable AtProvider of(Part part, Set<Part> merged) {
            Failed failed = Failed.of(part);
            if (merged.contains(part)) {
                int end = part.name().lastIndexOf(TEXT);
                String peer = part.name().substring(0, end);
                int at = peer.indexOf(AT);
                return new AtProvider(
                        at < 0 ? "" : peer.substring(0, at),
                        at < 0 ? peer : peer.substring(at + AT.length()),
                        part.name().substring(end + TEXT.length()));
            }
            String method = OperationNames.method(part.name());
            return failed == null || failed.service.isEmpty() || method == null
                    ? null
                    : new AtProvider(method, failed.address, failed.failure);
        }

        String key() {
            return label + TEXT + failure;
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
        Set<Part> merged = new HashSet<>();
        byPeer.forEach((peer, parts) -> {
            if (parts.size() > 1) {
                Set<String> of = services.getOrDefault(peer, Set.of());
                String service = of.size() == 1 ? of.iterator().next() : "";
                Part all = new Part(Kind.PEER_FAILS, (service.isEmpty() ? "" : service + AT) + peer);
                parts.forEach(part -> byCause.move(part, all));
                if (of.stream().noneMatch(String::isEmpty)) {
                    merged.add(all);
                }
            }
        });
        mergeProviders(byCause, merged);
    }

    /** Merges the failures of providers that fail alike. */
    private static void mergeProviders(TimesByCause byCause, Set<Part> merged) {
        Map<String, Map<String, Part>> byFailure = new TreeMap<>(); // the failures by address, by what fails
        for (Part part : byCause.longestFirst()) {
            AtProvider failed = AtProvider.of(part, merged);
            if (failed != null) {
                byFailure
                        .computeIfAbsent(failed.key(), unknown -> new TreeMap<>())
                        .put(failed.address(), part);
            }
        }
        byFailure.forEach((what, parts) -> {
            double most = parts.values().stream().mapToDouble(byCause::of).max().orElse(0);
            double least =
                    parts.values().stream().mapToDouble(byCause::of).min().orElse(0);
            if (parts.size() > 1 && least >= ALIKE * most) {
                String label = what.substring(0, what.lastIndexOf(TEXT));
                Part all = new Part(
                        Kind.PEER_FAILS,
                        (label.isEmpty() ? "" : label + AT)
                                + parts.size()
                                + PROVIDERS
                                + what.substring(what.lastIndexOf(TEXT)));
                parts.values().forEach(part -> byCause.move(part, all));
            }
        });
    }

    /** Returns whether the cause is a failure of several providers that fail alike. */
    static boolean isOfSeveral(Part cause) {
        return cause.kind() == Kind.PEER_FAILS && cause.name().contains(PROVIDERS + TEXT);
    }

    /** Returns the address of the provider that failed; null if no provider failed. */
    static @Nullable String addressOf(@Nullable Part failure) {
        Failed failed = failure == null ? null : Failed.of(failure);
        return failed == null || failed.service.isEmpty() ? null : failed.address;
    }

    /** Returns whether a call with the given failure failed for the reason that the cause names. */
    static boolean isOf(Part cause, @Nullable Part failure) {
        Failed failed = failure == null ? null : Failed.of(failure);
        if (failed != null && failure != null && isOfSeveral(cause)) {
            String label = cause.name().contains(AT)
                    ? cause.name().substring(0, cause.name().indexOf(AT))
                    : "";
            String method = String.valueOf(OperationNames.method(failure.name()));
            return cause.name().endsWith(TEXT + failed.failure)
                    && (label.isEmpty() || label.equals(method) || label.equals(failed.service));
        }
        return cause.equals(failure)
                || (failed != null
                        && (cause.name().equals(failed.key())
                                || cause.name().equals(failed.service() + AT + failed.key())));
    }
}
