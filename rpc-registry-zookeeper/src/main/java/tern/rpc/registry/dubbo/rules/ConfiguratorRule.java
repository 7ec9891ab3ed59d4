package tern.rpc.registry.dubbo.rules;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.ServiceKey;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.Instance;
import tern.rpc.registry.dubbo.Limits;

/**
 * A rule that changes parameters of calls and providers. If several changes set the same parameter, the last change
 * takes precedence.
 *
 * @param among the providers that the rule applies to, or null for all
 */
record ConfiguratorRule(List<Change> changes, @Nullable Set<Endpoint> among) implements Rule {

    /**
     * What a rule applies to: one service, the services that an application calls, or the providers of an application.
     */
    enum Scope {
        /** A rule for one service. */
        SERVICE,
        /** A rule for the services that an application calls. Changes with {@code side: provider} are ignored. */
        CALLER,
        /**
         * A rule for the providers of an application. Changes with {@code side: consumer} are ignored, as are
         * parameters that concern only the providers, such as {@code threads}.
         */
        PROVIDER
    }

    private static final String PROVIDER_SIDE = "provider";
    private static final String CONSUMER_SIDE = "consumer";

    private static final String TIMEOUT = "timeout";
    private static final String EXECUTES = "executes";

    /** The empty method name, which stands for all methods. */
    static final String ANY_METHOD = "";

    private static final int MAX_EXECUTES = 1_000_000;
    private static final int MAX_MILLIS = 24 * 60 * 60 * 1_000;
    private static final int MAX_WEIGHT = 1_000_000;

    /**
     * The names of the parameters in a rule for an application's providers that consumers apply. All other parameters
     * concern only the providers.
     */
    private static final Set<String> OF_PROVIDERS = Set.of("weight", "disabled", "enabled");

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
     * @param consumers the hosts of the consumers that apply the change, regardless of their ports; empty for all
     * @param applications the names of the applications that apply the change; empty for all
     * @param providers the addresses of the providers that the change applies to; empty for all
     * @param timeouts the timeouts by method name; the empty name applies to all methods
     * @param weight the new weight; null to leave it unchanged
     * @param disabled whether the providers get no calls; null to leave this unchanged
     * @param loadBalancing the new load balancing policy; empty to leave it unchanged
     * @param executes the maximum number of running calls in a provider, by method name; 0 means no limit, and the
     *     empty name applies to each method
     */
    record Change(
            List<AddressPattern> consumers,
            List<String> applications,
            List<AddressPattern> providers,
            Map<String, Duration> timeouts,
            @Nullable Integer weight,
            @Nullable Boolean disabled,
            String loadBalancing,
            Map<String, Integer> executes) {

        boolean isFor(RuleConsumer consumer) {
            return (consumers.isEmpty() || consumers.stream().anyMatch(pattern -> pattern.isOneOf(consumer.hosts())))
                    && (applications.isEmpty() || applications.contains(consumer.application()));
        }

        boolean isFor(Instance provider) {
            return providers.isEmpty() || providers.stream().anyMatch(pattern -> pattern.matches(provider.endpoint()));
        }
    }

    /** @param service the service that the rule will be applied to */
    static ConfiguratorRule of(RuleText text, Scope scope, ServiceKey service) {
        text.allowHead("configs");
        List<Change> changes = new ArrayList<>();
        for (RuleText config : Rule.bounded(text.objects("configs"))) {
            if (isWithin(config, scope, text.text("key", ""), service)) {
                Change change = change(config, scope);
                if (config.flag("enabled", true)) {
                    changes.add(change);
                }
            }
        }
        return new ConfiguratorRule(List.copyOf(changes), null);
    }

    @Override
    public ConfiguratorRule within(Supplier<Set<Endpoint>> providers) {
        return new ConfiguratorRule(changes, Set.copyOf(providers.get()));
    }

    /** Returns whether a change in a rule with the given scope applies to the service. */
    private static boolean isWithin(RuleText config, Scope scope, String key, ServiceKey service) {
        String side = config.text("side", CONSUMER_SIDE);
        if (!side.equals(PROVIDER_SIDE) && !side.equals(CONSUMER_SIDE)) {
            throw new IllegalArgumentException("the side '" + Limits.shown(side) + "' is not understood");
        }
        List<String> services = config.texts("services");
        boolean isForAll = services.isEmpty() || services.contains("*");
        if (scope == Scope.SERVICE) {
            if (!isForAll && !services.contains(key)) {
                throw new IllegalArgumentException("'services' is not understood in the rule of one service");
            }
            return true;
        }
        return side.equals(scope == Scope.CALLER ? CONSUMER_SIDE : PROVIDER_SIDE)
                && (isForAll || services.contains(service.interfaceName()) || services.contains(service.toString()));
    }

    private static Change change(RuleText config, Scope scope) {
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
        boolean isOfProvider = config.text("side", CONSUMER_SIDE).equals(PROVIDER_SIDE);
        List<AddressPattern> addresses = addresses(config, "addresses");
        List<AddressPattern> consumers = isOfProvider || isEveryHost(addresses) ? List.of() : addresses;
        List<AddressPattern> providers = isOfProvider ? addresses : addresses(config, "providerAddresses");
        List<String> applications = new ArrayList<>(all(config.texts("applications")));
        if (config.has("match")) {
            applications.addAll(applications(config.object("match")));
        }
        return checked(
                new Change(consumers, List.copyOf(applications), providers, Map.of(), null, null, "", Map.of()),
                config.object("parameters"),
                scope,
                isOfProvider);
    }

    /** Returns the addresses under a key; an empty list if one of the patterns matches all addresses. */
    private static List<AddressPattern> addresses(RuleText config, String key) {
        List<AddressPattern> patterns = Rule.bounded(config.texts(key)).stream()
                .map(AddressPattern::parse)
                .toList();
        return patterns.stream().anyMatch(AddressPattern::isForAll) ? List.of() : patterns;
    }

    private static boolean isEveryHost(List<AddressPattern> patterns) {
        return patterns.stream().anyMatch(pattern -> pattern.form() == AddressPattern.Form.EVERY_HOST);
    }

    /** Returns the elements of a list; an empty list if one element is the wildcard for all values. */
    private static List<String> all(List<String> written) {
        return written.contains("*") || written.contains("0.0.0.0") ? List.of() : Rule.bounded(written);
    }

    private static List<String> applications(RuleText match) {
        List<String> names = new ArrayList<>();
        for (RuleText one :
                match.allow("application").object("application").allow("oneof").objects("oneof")) {
            names.add(one.allow("exact").text("exact", ""));
        }
        return Rule.bounded(names);
    }

    private static Change checked(Change base, RuleText parameters, Scope scope, boolean isOfProvider) {
        Map<String, Duration> timeouts = new LinkedHashMap<>();
        Integer weight = null;
        Boolean disabled = null;
        String balancing = "";
        Map<String, Integer> executes = new LinkedHashMap<>();
        for (String name : parameters.keys()) {
            if (isOfProvider && isNamed(name, EXECUTES)) {
                executes.put(method(name, EXECUTES), parameters.number(name, 0, MAX_EXECUTES));
                continue;
            }
            if (scope == Scope.PROVIDER && !OF_PROVIDERS.contains(name)) {
                // All other parameters concern only the providers, which read the rule themselves.
                continue;
            }
            if (isNamed(name, TIMEOUT)) {
                timeouts.put(method(name, TIMEOUT), Duration.ofMillis(parameters.number(name, 1, MAX_MILLIS)));
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
                        + "' is not understood; expected timeout, weight, disabled or loadbalance, or with"
                        + " side: provider also executes");
            }
        }
        if (!base.providers().isEmpty() && (!timeouts.isEmpty() || !balancing.isEmpty())) {
            throw new IllegalArgumentException("timeout and loadbalance must apply to all providers");
        }
        return new Change(
                base.consumers(),
                base.applications(),
                base.providers(),
                Map.copyOf(timeouts),
                weight,
                disabled,
                balancing,
                Map.copyOf(executes));
    }

    private static boolean isNamed(String name, String parameter) {
        return name.equals(parameter) || name.endsWith("." + parameter);
    }

    /** Returns the method that a parameter such as {@code place.timeout} applies to. */
    private static String method(String name, String parameter) {
        return name.equals(parameter) ? ANY_METHOD : name.substring(0, name.length() - parameter.length() - 1);
    }

    @Override
    public Map<String, Integer> executes(Endpoint provider, String application) {
        Map<String, Integer> limits = new LinkedHashMap<>();
        for (Change change : changes) {
            boolean isForAddress = change.providers().isEmpty()
                    || change.providers().stream().anyMatch(pattern -> pattern.matches(provider));
            if (isForAddress
                    && (change.applications().isEmpty() || change.applications().contains(application))) {
                change.executes().forEach((method, limit) -> {
                    // A later limit takes precedence, so the method is moved to the end of the map.
                    limits.remove(method);
                    limits.put(method, limit);
                });
            }
        }
        return limits;
    }

    /**
     * Returns the timeout that the rule sets for a method; null if the rule sets no such timeout.
     *
     * @param method the method; {@link #ANY_METHOD} for the timeout of all methods
     */
    @Nullable
    Duration timeout(String method, RuleConsumer consumer) {
        Duration timeout = null;
        for (Change change : changes) {
            Duration changed = change.timeouts().get(method);
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
            if (change.weight() != null && change.isFor(consumer) && isFor(change, provider)) {
                weight = change.weight();
            }
        }
        return weight;
    }

    /** Returns whether the rule disables the provider; null if the rule contains no such change. */
    @Nullable
    Boolean disabled(Instance provider, RuleConsumer consumer) {
        Boolean disabled = null;
        for (Change change : changes) {
            if (change.disabled() != null && change.isFor(consumer) && isFor(change, provider)) {
                disabled = change.disabled();
            }
        }
        return disabled;
    }

    private boolean isFor(Change change, Instance provider) {
        return (among == null || among.contains(provider.endpoint())) && change.isFor(provider);
    }
}
