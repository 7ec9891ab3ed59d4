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

/** The providers of each reference, with the state of their list and of each of them. */
record ClusterPart(RpcReferences references) implements RpcReportPart {

    /**
     * The JSON.
     *
     * @param at the time of the report
     */
    record Report(Instant at, List<Reference> references) {}

    /**
     * A reference.
     *
     * @param service group, interface and version
     * @param list the list of its providers
     * @param endpoints the providers that the client connects to
     */
    record Reference(String service, ProviderList list, List<Endpoint> endpoints) {

        static Reference of(RpcClient.Reference reference, Instant at) {
            ClusterReport cluster = reference.cluster();
            return new Reference(
                    reference.service().toString(),
                    ProviderList.of(cluster, at),
                    cluster.providers().stream()
                            .map(provider -> Endpoint.of(provider, at))
                            .toList());
        }
    }

    /**
     * The list of the providers.
     *
     * @param why the reason of the state; empty if there is nothing to say
     * @param listed the number of providers in the list
     * @param held the number of providers that are missing from the list, but still answer and are kept
     * @param heldSince null if no provider is kept
     * @param heldWhy the change of the list that was not obeyed; empty if no provider is kept
     */
    record ProviderList(
            String source,
            EndpointSnapshot.State state,
            Instant since,
            String why,
            int listed,
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
                    cluster.held(),
                    cluster.held() == 0 ? null : at.minus(cluster.heldFor()),
                    cluster.heldWhy());
        }
    }

    /**
     * A provider.
     *
     * @param heard whether its server has sent something on the connection
     * @param lastFailure the reason why it is not connected; empty if it is
     * @param nextAttempt the next attempt to connect that needs no call; null if none is planned
     * @param held whether the list does not contain it any more
     * @param score the number that load balancing compares; a lower one is better
     * @param responseTime a multiple of the usual one
     * @param inFlight calls and streams without an end
     * @param shareOfLastMinute its share of the calls of this reference, from 0 to 1
     * @param stalledSince the time since which it is silent although calls wait for it; null if it is not
     * @param ejectedUntil the time at which it gets calls again after its failures; null if it gets calls
     * @param ejectedWhy the reason of the last ejection; empty if there was none
     * @param ejections the number of ejections since the start of the client
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
