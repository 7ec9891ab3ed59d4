package tern.rpc.registry.dubbo.rules;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** A rule read from a registry. */
public sealed interface Rule permits ConditionRule, TagRule, ConfiguratorRule {

    /** The maximum number of parts in one rule. Parts are conditions, tagged addresses, or configurations. */
    int MAX_PARTS = 1_000;

    /** The kinds of rules. Each kind has its own key suffix. */
    enum Kind {
        CONFIGURATORS(".configurators"),
        CONDITIONS(".condition-router"),
        TAGS(".tag-router");

        private final String end;

        Kind(String end) {
            this.end = end;
        }

        /** Returns the key of the rule for a service ({@code interface:version:group}) or an application. */
        public String key(String name) {
            return name + end;
        }

        /**
         * Parses a rule.
         *
         * @return the rule; null if the rule is disabled or empty
         * @throws IllegalArgumentException if the rule is too long, or if a part of it is not supported
         */
        public @Nullable Rule parse(String yaml) {
            if (yaml.isBlank()) {
                return null;
            }
            RuleText text = RuleText.parse(yaml);
            Rule rule = switch (this) {
                case CONFIGURATORS -> ConfiguratorRule.of(text);
                case CONDITIONS -> ConditionRule.of(text);
                case TAGS -> TagRule.of(text);
            };
            return text.flag("enabled", true) ? rule : null;
        }
    }

    /**
     * Returns a copy of the parts.
     *
     * @throws IllegalArgumentException if there are more parts than {@link #MAX_PARTS}
     */
    static <T> List<T> bounded(List<T> parts) {
        if (parts.size() > MAX_PARTS) {
            throw new IllegalArgumentException("it has " + parts.size() + " parts, more than " + MAX_PARTS);
        }
        return List.copyOf(parts);
    }
}
