package tern.rpc.registry.dubbo.rules;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.ServiceKey;
import tern.rpc.endpoint.Endpoint;

/** A rule read from a registry. */
public sealed interface Rule permits ConditionRule, TagRule, ConfiguratorRule {

    /**
     * The maximum number of parts in one rule. Parts are conditions, tagged addresses, or configurations.
     */
    int MAX_PARTS = 1_000;

    /** The maximum number of values in all conditions of one rule. */
    int MAX_VALUES = 8_000;

    /** The kinds of rules. A rule for a service and a rule for an application can have keys with the same suffix. */
    enum Kind {
        /** Changed parameters for one service. */
        CONFIGURATORS(".configurators"),
        /** Changed parameters for the services that an application calls. */
        CALLER_CONFIGURATORS(".configurators"),
        /** Changed parameters of the providers of an application. */
        PROVIDER_CONFIGURATORS(".configurators"),
        /** Conditions for the calls to one service, or for the calls that an application makes. */
        CONDITIONS(".condition-router"),
        /** Conditions for the calls to the providers of an application. */
        PROVIDER_CONDITIONS(".condition-router"),
        TAGS(".tag-router"),
        /** Script rules, which Tern does not support. */
        SCRIPTS(".script-router"),
        /** Mesh rules, which Tern does not support. */
        MESH(".MESHAPPRULE");

        private final String end;

        Kind(String end) {
            this.end = end;
        }

        /** Returns the key of the rule for a service ({@code interface:version:group}) or an application. */
        public String key(String name) {
            return name + end;
        }

        /** Returns whether the rule is for an application that offers services. */
        public boolean isOfProviders() {
            return sharesKey() || this == TAGS;
        }

        /**
         * Returns whether an application can have a second rule with the same key, for the calls that the application
         * makes.
         */
        public boolean sharesKey() {
            return this == PROVIDER_CONFIGURATORS || this == PROVIDER_CONDITIONS;
        }

        /**
         * Parses a rule.
         *
         * @param service the service that the rule will be applied to
         * @return the rule; null if the rule is disabled or empty
         * @throws IllegalArgumentException if the rule is too long, or if a part of it is not supported
         */
        public @Nullable Rule parse(String yaml, ServiceKey service) {
            if (yaml.isBlank()) {
                return null;
            }
            if (this == MESH) {
                throw unsupported();
            }
            RuleText text = RuleText.parse(yaml);
            if (!text.flag("enabled", true)) {
                // A disabled rule is accepted even if Tern does not support a part of it, so that an operator can
                // disable any rule.
                return null;
            }
            return switch (this) {
                case CONFIGURATORS -> ConfiguratorRule.of(text, ConfiguratorRule.Scope.SERVICE, service);
                case CALLER_CONFIGURATORS -> ConfiguratorRule.of(text, ConfiguratorRule.Scope.CALLER, service);
                case PROVIDER_CONFIGURATORS -> ConfiguratorRule.of(text, ConfiguratorRule.Scope.PROVIDER, service);
                case CONDITIONS, PROVIDER_CONDITIONS -> ConditionRule.of(text);
                case TAGS -> TagRule.of(text);
                case SCRIPTS, MESH -> throw unsupported();
            };
        }

        private static IllegalArgumentException unsupported() {
            return new IllegalArgumentException("Tern does not apply rules of this kind, and ignores the whole rule");
        }
    }

    /**
     * Returns a copy of this rule that applies only to the providers of one application. Returns this rule if the rule
     * needs no addresses.
     *
     * @param providers supplies the addresses of the application; called only if the rule needs them
     */
    default Rule within(Supplier<Set<Endpoint>> providers) {
        return this;
    }

    /** Returns the addresses that {@link #within} has set; null if {@link #within} has set no addresses. */
    default @Nullable Set<Endpoint> among() {
        return null;
    }

    /**
     * Returns the maximum numbers of running calls that the rule sets for a provider, by method name. The empty name
     * applies to each method, and 0 means no limit.
     *
     * @param provider the published address of the provider
     * @param application the name of the provider's application
     */
    default Map<String, Integer> executes(Endpoint provider, String application) {
        return Map.of();
    }

    /**
     * Returns a copy of the parts.
     *
     * @throws IllegalArgumentException if there are more parts than {@link #MAX_PARTS}
     */
    static <T> List<T> bounded(List<T> parts) {
        checkParts(parts.size());
        return List.copyOf(parts);
    }

    /** @throws IllegalArgumentException if there are more parts than {@link #MAX_PARTS} */
    static void checkParts(int parts) {
        if (parts > MAX_PARTS) {
            throw new IllegalArgumentException("it has " + parts + " parts, more than " + MAX_PARTS);
        }
    }
}
