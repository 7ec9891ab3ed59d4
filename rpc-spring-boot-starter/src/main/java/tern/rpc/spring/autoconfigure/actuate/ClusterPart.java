package tern.rpc.spring.autoconfigure.actuate;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.client.RpcClient;
import tern.rpc.cluster.ClusterReport;
import tern.rpc.endpoint.EndpointSnapshot;
import tern.rpc.metrics.RpcReportPart;
import tern.rpc.spring.autoconfigure.RpcReferences;

/** Reports each reference's providers, with the state of the provider list and of each provider. */
record ClusterPart(RpcReferences references) implements RpcReportPart {

    /**
     * The content of the JSON report.
     *
     * @param at the time when the report was created
     */
    record Report(Instant at, List<Reference> references) {}

    /**
     * A reference.
     *
     * @param service the group, interface and version
     * @param list the list of the reference's providers
     * @param endpoints the providers to which the client connects
     * @param retries the number of retries since the client started, for all references to the service
     * @param hedges the number of attempts sent to a second provider because the first provider was slow, counted like
     *     {@code retries}
     * @param fallbacks the number of calls that a fallback answered because no provider answered them, counted like
     *     {@code retries}
     */
    record Reference(
            String service, ProviderList list, List<Endpoint> endpoints, long retries, long hedges, long fallbacks) {

        static Reference of(RpcClient.Reference reference, Instant at) {
            ClusterReport cluster = reference.cluster();
            return new Reference(
                    reference.service().toString(),
                    ProviderList.of(cluster, at),
                    cluster.providers().stream()
                            .map(provider -> Endpoint.of(provider, at))
                            .toList(),
                    reference.attempts().retries(),
                    reference.attempts().hedges(),
                    reference.attempts().fallbacks());
        }
    }

    /**
     * The state of a reference's provider list.
     *
     * @param why the reason for the list's state; empty if there is no reason to report
     * @param listed the number of providers in the list
     * @param passedOver the number of listed providers that the client has replaced with other listed providers,
     *     because they could not be reached
     * @param held the number of providers that are kept because they still respond, even though they are no longer
     *     listed
     * @param heldSince the time when the client began to keep these providers; null if no provider is kept
     * @param heldWhy a description of the change to the list that was not applied; empty if no provider is kept
     */
    record ProviderList(
            String source,
            EndpointSnapshot.State state,
            Instant since,
            String why,
            int listed,
            int passedOver,
            int held,
            @Nullable Instant heldSince,
            String heldWhy) {

        static ProviderList of(ClusterReport cluster, Instant at) {
            return new ProviderList(
                    cluster.source(),
                    cluster.state(),
                    cluster.since(),
                    cluster.why(),
                    cluster.listed(),
                    cluster.passedOver(),
                    cluster.held(),
                    cluster.held() == 0 ? null : at.minus(cluster.heldFor()),
                    cluster.heldWhy());
        }
    }

    /**
     * A provider.
     *
     * @param heard whether the provider's server has sent data on the connection
     * @param lastFailure the reason why the provider is not connected; empty if it is connected
     * @param nextAttempt the time of the next connection attempt that is not triggered by a call; null if no attempt is
     *     planned
     * @param held whether the provider is kept even though it is no longer listed
     * @param score the score by which load balancing compares providers; lower is better
     * @param responseTime the recent response time, as a multiple of the provider's usual response time
     * @param inFlight the number of calls and streams that have not ended
     * @param shareOfLastMinute the provider's share of the calls through this reference, from 0 to 1
     * @param stalledSince the time when the provider stopped sending data while calls were waiting for answers; null if
     *     it is not stalled
     * @param ejectedUntil the end of the provider's ejection, which is caused by failures; null if it is not ejected
     * @param ejectedWhy the reason for the last ejection; empty if there was none
     * @param ejections the number of ejections since the client started
     */
    record Endpoint(
            String address,
            int weight,
            String zone,
            Map<String, String> tags,
            boolean draining,
            boolean held,
            ClusterReport.Link connection,
            boolean heard,
            String lastFailure,
            @Nullable Instant nextAttempt,
            double score,
            double responseTime,
            int inFlight,
            double shareOfLastMinute,
            @Nullable Instant stalledSince,
            @Nullable Instant ejectedUntil,
            String ejectedWhy,
            long ejections) {

        static Endpoint of(ClusterReport.Provider provider, Instant at) {
            return new Endpoint(
                    provider.endpoint().toString(),
                    provider.attributes().weight(),
                    provider.attributes().zone(),
                    provider.attributes().tags(),
                    provider.attributes().draining(),
                    provider.held(),
                    provider.link(),
                    provider.heard(),
                    provider.lastFailure(),
                    provider.nextAttempt() == null ? null : at.plus(provider.nextAttempt()),
                    provider.score(),
                    provider.cost(),
                    provider.inFlight(),
                    provider.shareOfLastMinute(),
                    provider.stalledFor().isZero() ? null : at.minus(provider.stalledFor()),
                    provider.ejectedFor().isZero() ? null : at.plus(provider.ejectedFor()),
                    provider.ejectedWhy(),
                    provider.ejections());
        }
    }

    @Override
    public String name() {
        return "cluster";
    }

    @Override
    public Report report() {
        RpcClient client = references.client();
        Instant at = Instant.now();
        return new Report(
                at,
                client == null
                        ? List.of()
                        : client.references().stream()
                                .map(reference -> Reference.of(reference, at))
                                .toList());
    }

    @Override
    public String text() {
        return ClusterText.of(report());
    }
}
