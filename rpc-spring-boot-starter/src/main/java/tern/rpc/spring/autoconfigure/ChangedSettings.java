package tern.rpc.spring.autoconfigure;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tern.rpc.MethodDescriptor;
import tern.rpc.ServiceDescriptor;
import tern.rpc.client.MethodSettings;
import tern.rpc.cluster.Policies;
import tern.rpc.endpoint.Attributes;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.Instance;
import tern.rpc.endpoint.Rules;
import tern.rpc.settings.InvalidPropertyException;

/**
 * The properties of a reference that have changed since startup.
 *
 * @param timeouts the changed timeouts by method name
 * @param weights the changed weights by address as written in the properties
 * @param loadBalancing the changed load balancing policy; empty if it has not changed
 */
record ChangedSettings(Map<String, Duration> timeouts, Map<String, Integer> weights, String loadBalancing)
        implements Rules {

    private static final ChangedSettings NOTHING = new ChangedSettings(Map.of(), Map.of(), "");

    /**
     * Compares a reference's settings at startup with its current settings.
     *
     * @param clientBefore the client's timeout at startup, which applies to methods without their own timeout
     * @param clientNow the client's current timeout
     */
    static Rules of(ReferenceSettings before, Duration clientBefore, ReferenceSettings now, Duration clientNow) {
        Map<String, Duration> timeouts = new HashMap<>();
        for (MethodDescriptor method : ServiceDescriptor.of(before.type()).methods()) {
            Duration current = timeout(now, method, clientNow);
            if (!current.equals(timeout(before, method, clientBefore))) {
                timeouts.put(method.name(), current);
            }
        }
        Map<String, Integer> weights = new HashMap<>();
        for (Instance address : now.endpoints()) {
            if (before.endpoints().stream().noneMatch(address::equals)) {
                weights.put(address(address.endpoint()), address.attributes().weight());
            }
        }
        ChangedSettings changed = new ChangedSettings(timeouts, weights, policy(before.choice(), now.choice()));
        return changed.equals(NOTHING) ? NONE : changed;
    }

    /** @throws InvalidPropertyException if the changed policy is not one of Tern's policies */
    private static String policy(ProviderChoice before, ProviderChoice now) {
        if (now.policy().equals(before.policy())) {
            return "";
        }
        if (!Policies.names().contains(now.policy())) {
            throw new InvalidPropertyException(
                    now.property(),
                    "'" + now.policy() + "'",
                    String.join(", ", Policies.names()) + "; beans take effect only after a restart");
        }
        return now.policy();
    }

    /** Returns whether the addresses differ in anything except their weights. */
    static boolean haveOtherAddresses(ReferenceSettings before, ReferenceSettings now) {
        return !addresses(before).equals(addresses(now));
    }

    private static Set<Endpoint> addresses(ReferenceSettings settings) {
        return settings.endpoints().stream().map(Instance::endpoint).collect(Collectors.toSet());
    }

    private static Duration timeout(ReferenceSettings settings, MethodDescriptor method, Duration otherwise) {
        Duration own = settings.methods()
                .getOrDefault(method.name(), MethodSettings.NONE)
                .timeout();
        Duration ofService = own == null ? settings.defaults().timeout() : own;
        Duration marked = ofService == null ? method.timeout() : ofService;
        return marked == null ? otherwise : marked;
    }

    /**
     * Returns the address as written in the properties. If the address was resolved from a host name, the result
     * contains this name.
     */
    private static String address(Endpoint endpoint) {
        return endpoint.name() + ":" + endpoint.port();
    }

    @Override
    public @Nullable Attributes attributes(Instance provider) {
        Integer weight = weights.get(address(provider.endpoint()));
        return weight == null ? provider.attributes() : provider.attributes().withWeight(weight);
    }

    @Override
    public @Nullable Duration timeout(String method) {
        return timeouts.get(method);
    }

    /**
     * Returns true, because the rules of a registry take precedence over changed properties, just as they take
     * precedence over the properties at startup.
     */
    @Override
    public boolean yieldsToSource() {
        return true;
    }

    @Override
    public String toString() {
        return "changed properties rpc.client…";
    }
}
