package tern.rpc.registry.dubbo.rules;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Instance;
import tern.rpc.registry.dubbo.Limits;

/**
 * A rule that changes parameters of calls and providers. If several changes set the same parameter, the last one takes
 * precedence.
 */
record ConfiguratorRule(List<Change> changes) implements Rule {

    private static final String TIMEOUT = "timeout";
    private static final String ANY_METHOD = "";
    private static final int MAX_MILLIS = 24 * 60 * 60 * 1_000;
    private static final int MAX_WEIGHT = 1_000_000;

    /** Tern's names for load balancing policies, keyed by Dubbo's names. */
    private static final Map<String, String> BALANCING = Map.of(
            "random", "p2c",
            "leastactive", "p2c",
            "shortestresponse", "p2c",
            "adaptive", "p2c",
            "p2c", "p2c",
            "roundrobin", "round-robin",
            "consistenthash", "consistent-hash");

    /**
     * One change of parameters, with its scope.
     *
     * @param consumers the hosts of the consumers that apply the change; empty for all
     * @param applications the names of the applications that apply the change; empty for all
     * @param providers the addresses of the providers to which the change applies; empty for all
     * @param timeouts the timeouts by method name; the empty name applies to all methods
     * @param weight the new weight; null to leave it unchanged
     * @param disabled whether the providers get no calls; null to leave this unchanged
     * @param loadBalancing the new load balancing policy; empty to leave it unchanged
     */
    record Change(
            List<String> consumers,
            List<String> applications,
            List<String> providers,
            Map<String, Duration> timeouts,
            @Nullable Integer weight,
            @Nullable Boolean disabled,
            String loadBalancing) {

        boolean isFor(RuleConsumer consumer) {
            return (consumers.isEmpty() || consumers.stream().anyMatch(consumer.hosts()::contains))
                    && (applications.isEmpty() || applications.contains(consumer.application()));
        }

        boolean isFor(Instance provider) {
            return providers.isEmpty() || providers.stream().anyMatch(address -> Fields.isAddress(address, provider));
        }
    }

    static ConfiguratorRule of(RuleText text) {
        text.allowHead("configs");
        List<Change> changes = new ArrayList<>();
        for (RuleText config : Rule.bounded(text.objects("configs"))) {
            Change change = change(config, text.text("key", ""));
            if (config.flag("enabled", true)) {
                changes.add(change);
            }
        }
        return new ConfiguratorRule(List.copyOf(changes));
    }

    private static Change change(RuleText config, String key) {
        config.allow(
                "side",
                "addresses",
                "providerAddresses",
                "applications",
                "services",
                "match",
                "parameters",
                "enabled",
                "type");
        String side = config.text("side", "consumer");
        boolean isOfProvider = side.equals("provider");
        if (!isOfProvider && !side.equals("consumer")) {
            throw new IllegalArgumentException("the side '" + Limits.shown(side) + "' is not understood");
        }
        List<String> services = config.texts("services");
        if (!services.isEmpty() && !services.contains("*") && !services.contains(key)) {
            throw new IllegalArgumentException("'services' is not understood in the rule of one service");
        }
        List<String> addresses = all(config.texts("addresses"));
        List<String> providers = all(config.texts("providerAddresses"));
        List<String> applications = new ArrayList<>(all(config.texts("applications")));
        if (config.has("match")) {
            applications.addAll(applications(config.object("match")));
        }
        return checked(
                new Change(
                        isOfProvider ? List.of() : addresses,
                        List.copyOf(applications),
                        isOfProvider ? addresses : providers,
                        Map.of(),
                        null,
                        null,
                        ""),
                config.object("parameters"));
    }

    /** Returns the elements of a list; an empty list if one element is the wildcard for all values. */
    private static List<String> all(List<String> written) {
        return written.stream().anyMatch(Fields::isAny) ? List.of() : Rule.bounded(written);
    }

    private static List<String> applications(RuleText match) {
        List<String> names = new ArrayList<>();
        for (RuleText one :
                match.allow("application").object("application").allow("oneof").objects("oneof")) {
            names.add(one.allow("exact").text("exact", ""));
        }
        return Rule.bounded(names);
    }

    private static Change checked(Change scope, RuleText parameters) {
        Map<String, Duration> timeouts = new LinkedHashMap<>();
        Integer weight = null;
        Boolean disabled = null;
        String balancing = "";
        for (String name : parameters.keys()) {
            if (name.equals(TIMEOUT) || name.endsWith("." + TIMEOUT)) {
                String method =
                        name.equals(TIMEOUT) ? ANY_METHOD : name.substring(0, name.length() - TIMEOUT.length() - 1);
                timeouts.put(method, Duration.ofMillis(parameters.number(name, 1, MAX_MILLIS)));
            } else if (name.equals("weight")) {
                weight = parameters.number(name, 0, MAX_WEIGHT);
            } else if (name.equals("disabled")) {
                disabled = parameters.flag(name, false);
            } else if (name.equals("enabled")) {
                disabled = !parameters.flag(name, true);
            } else if (name.equals("loadbalance")) {
                balancing = BALANCING.getOrDefault(parameters.text(name, ""), "");
                if (balancing.isEmpty()) {
                    throw new IllegalArgumentException(
                            "the loadbalance '" + Limits.shown(parameters.text(name, "")) + "' is not understood");
                }
            } else {
                throw new IllegalArgumentException("the parameter '" + Limits.shown(name)
                        + "' is not understood; known are timeout, weight, disabled and loadbalance");
            }
        }
        if (!scope.providers().isEmpty() && (!timeouts.isEmpty() || !balancing.isEmpty())) {
            throw new IllegalArgumentException("timeout and loadbalance are not understood for some providers alone");
        }
        return new Change(
                scope.consumers(),
                scope.applications(),
                scope.providers(),
                Map.copyOf(timeouts),
                weight,
                disabled,
                balancing);
    }

    @Nullable
    Duration timeout(String method, RuleConsumer consumer) {
        Duration timeout = null;
        for (Change change : changes) {
            Duration ofMethod = change.timeouts().get(method);
            Duration changed = ofMethod == null ? change.timeouts().get(ANY_METHOD) : ofMethod;
            if (changed != null && change.isFor(consumer)) {
                timeout = changed;
            }
        }
        return timeout;
    }

    String loadBalancing(RuleConsumer consumer) {
        String balancing = "";
        for (Change change : changes) {
            if (!change.loadBalancing().isEmpty() && change.isFor(consumer)) {
                balancing = change.loadBalancing();
            }
        }
        return balancing;
    }

    @Nullable
    Integer weight(Instance provider, RuleConsumer consumer) {
        Integer weight = null;
        for (Change change : changes) {
            if (change.weight() != null && change.isFor(consumer) && change.isFor(provider)) {
                weight = change.weight();
            }
        }
        return weight;
    }

    boolean isDisabled(Instance provider, RuleConsumer consumer) {
        boolean disabled = false;
        for (Change change : changes) {
            if (change.disabled() != null && change.isFor(consumer) && change.isFor(provider)) {
                disabled = change.disabled();
            }
        }
        return disabled;
    }
}
