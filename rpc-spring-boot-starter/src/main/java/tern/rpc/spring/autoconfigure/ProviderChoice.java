package tern.rpc.spring.autoconfigure;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tern.rpc.cluster.ClusterSettings;
import tern.rpc.cluster.NamedPolicy;
import tern.rpc.cluster.Policies;
import tern.rpc.endpoint.Balancer;
import tern.rpc.settings.InvalidPropertyException;
import tern.rpc.settings.PropertyCheck;

/**
 * The settings that determine how a reference chooses among its providers.
 *
 * @param policy the name of one of Tern's load balancers or of a bean
 * @param property the property that contains the policy's name, for error messages
 * @param zone the preferred zone; empty for none
 * @param tag the default tag of calls; empty for none
 * @param subset the maximum number of providers to connect to; 0 for all
 */
record ProviderChoice(String policy, String property, String zone, String tag, int subset) {

    private static final String PROPERTY = "rpc.client.load-balancing";

    static ProviderChoice of(RpcClientProperties client) {
        return new ProviderChoice(
                client.loadBalancing(),
                PROPERTY,
                client.zone() == null ? "" : client.zone(),
                "",
                PropertyCheck.between("rpc.client.subset", client.subset(), 0, 1_000_000));
    }

    /**
     * Returns a copy with the settings from the service's properties.
     *
     * @param prefix the prefix of the service's properties, such as {@code rpc.client.services.orders}
     */
    ProviderChoice with(RpcClientProperties.Service service, String prefix) {
        String ownTag = service.tag() == null ? tag : service.tag();
        return service.loadBalancing() == null
                ? new ProviderChoice(policy, property, zone, ownTag, subset)
                : new ProviderChoice(service.loadBalancing(), prefix + ".load-balancing", zone, ownTag, subset);
    }

    ProviderChoice withPolicy(String changed) {
        return new ProviderChoice(changed, property, zone, tag, subset);
    }

    /**
     * @param beans returns the load balancer bean with a given name; null if there is none
     * @throws InvalidPropertyException if there is no load balancer with the name {@code policy}
     */
    ClusterSettings settings(Function<String, Balancer.@Nullable Factory> beans) {
        Balancer.Factory bean = Policies.names().contains(policy) ? null : beans.apply(policy);
        return new ClusterSettings(
                bean == null ? Policies.named(ownPolicy()) : new NamedPolicy(policy, bean), zone, tag, subset);
    }

    /** Returns the name of one of Tern's policies. The property may spell the name in any of Spring's forms. */
    private String ownPolicy() {
        return Policies.names().stream()
                .filter(name -> ClientSettings.uniform(name).equals(ClientSettings.uniform(policy)))
                .findFirst()
                .orElseThrow(() -> new InvalidPropertyException(
                        property,
                        "'" + policy + "'",
                        String.join(", ", Policies.names()) + " or the name of a bean of type Balancer.Factory"));
    }
}
