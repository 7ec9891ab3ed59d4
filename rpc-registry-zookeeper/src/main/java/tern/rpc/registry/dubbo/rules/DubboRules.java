package tern.rpc.registry.dubbo.rules;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tern.rpc.ServiceKey;
import tern.rpc.endpoint.Attributes;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.Instance;
import tern.rpc.endpoint.Rules;
import tern.rpc.registry.JsonReader;
import tern.rpc.registry.JsonWriter;

/**
 * All rules that apply to one service.
 *
 * @param byKey the rules by their keys, in ascending order of precedence: rules for an application's providers, other
 *     rules for applications, and rules for the service
 * @param sources the texts of the rules, by the same keys
 */
public record DubboRules(Map<String, Rule> byKey, Map<String, Source> sources, RuleConsumer consumer) implements Rules {

    /**
     * The suffix of the key of a rule for an application's providers. The suffix distinguishes this rule from the rule
     * for the services that the application calls. In the registry, both rules have the same key.
     */
    public static final String OF_PROVIDERS = " (providers)";

    private static final Comparator<String> BY_PRECEDENCE =
            Comparator.comparingInt(DubboRules::precedence).thenComparing(Comparator.naturalOrder());

    /** A rule as it is written in the registry. */
    public record Source(Rule.Kind kind, String yaml) {}

    private static final String KIND = "kind";
    private static final String KEY = "key";
    private static final String YAML = "yaml";
    private static final String AMONG = "among";
    private static final int MAX_MEMBERS = 1_000_000;

    public DubboRules {
        Map<String, Rule> sorted = new TreeMap<>(BY_PRECEDENCE);
        sorted.putAll(byKey);
        byKey = sorted;
        sources = Map.copyOf(sources);
    }

    /** Returns the rules for the given consumer; {@link Rules#NONE} if there are no rules. */
    public static Rules of(Map<String, Rule> byKey, Map<String, Source> sources, RuleConsumer consumer) {
        return byKey.isEmpty() ? NONE : new DubboRules(byKey, sources, consumer);
    }

    /**
     * Reads rules from their {@linkplain #texts texts}.
     *
     * @param service the service that the rules will be applied to
     * @throws IllegalArgumentException if a text cannot be read
     */
    public static Rules of(List<String> texts, ServiceKey service, RuleConsumer consumer) {
        Map<String, Rule> byKey = new HashMap<>();
        Map<String, Source> sources = new HashMap<>();
        for (String text : texts) {
            Map<String, @Nullable Object> read = JsonReader.readObject(text, MAX_MEMBERS);
            Source source =
                    new Source(Rule.Kind.valueOf(String.valueOf(read.get(KIND))), String.valueOf(read.get(YAML)));
            Rule rule = source.kind.parse(source.yaml, service);
            if (rule != null) {
                String key = String.valueOf(read.get(KEY));
                byKey.put(key, read.get(AMONG) instanceof List<?> among ? rule.within(() -> endpoints(among)) : rule);
                sources.put(key, source);
            }
        }
        return of(byKey, sources, consumer);
    }

    private static Set<Endpoint> endpoints(List<?> addresses) {
        Set<Endpoint> endpoints = new HashSet<>();
        for (Object address : addresses) {
            String text = String.valueOf(address);
            int slash = text.lastIndexOf('/'); // the last slash separates the host from the port
            endpoints.add(new Endpoint(text.substring(0, slash), Integer.parseInt(text.substring(slash + 1))));
        }
        return endpoints;
    }

    @Override
    public List<String> texts() {
        List<String> texts = new ArrayList<>();
        sources.forEach((key, source) -> {
            Map<String, Object> written = new HashMap<>();
            written.put(KIND, source.kind.name());
            written.put(KEY, key);
            written.put(YAML, source.yaml);
            Rule rule = byKey.get(key);
            Set<Endpoint> among = rule == null ? null : rule.among();
            if (among != null) {
                written.put(
                        AMONG,
                        among.stream()
                                .map(endpoint -> endpoint.host() + '/' + endpoint.port())
                                .toList());
            }
            texts.add(JsonWriter.write(written));
        });
        return texts;
    }

    private static int precedence(String key) {
        if (key.endsWith(OF_PROVIDERS)) {
            return 0;
        }
        return key.indexOf(':') < 0 ? 1 : 2; // The key of a service contains colons: interface:version:group.
    }

    private <T extends Rule> Stream<T> rules(Class<T> kind) {
        return byKey.values().stream().filter(kind::isInstance).map(kind::cast);
    }

    @Override
    public @Nullable Attributes attributes(Instance provider) {
        Attributes attributes = provider.attributes();
        boolean isDisabled = false;
        for (ConfiguratorRule rule : rules(ConfiguratorRule.class).toList()) {
            Boolean disabled = rule.disabled(provider, consumer);
            isDisabled = disabled == null ? isDisabled : disabled;
            Integer weight = rule.weight(provider, consumer);
            if (weight != null && weight != attributes.weight()) {
                attributes = attributes.withWeight(weight);
            }
        }
        return isDisabled ? null : attributes;
    }

    @Override
    public List<String> tags(Instance provider) {
        List<String> tags = new ArrayList<>();
        rules(TagRule.class).forEach(rule -> tags.addAll(rule.of(provider)));
        String own = provider.attributes().tag();
        boolean isUntagged = own.isEmpty() && tags.isEmpty();
        boolean isStatic = !own.isEmpty() && rules(TagRule.class).noneMatch(rule -> rule.decides(own));
        if (isUntagged || (isStatic && !tags.contains(own))) {
            tags.add(own);
        }
        return tags;
    }

    @Override
    public boolean takesCallsWithoutTag(Instance provider) {
        List<TagRule> tagRules = rules(TagRule.class).toList();
        String own = provider.attributes().tag();
        return tagRules.stream().allMatch(rule -> rule.of(provider).isEmpty())
                && (own.isEmpty() || (!tagRules.isEmpty() && tagRules.stream().noneMatch(rule -> rule.names(own))));
    }

    @Override
    public boolean isForced(String tag) {
        return rules(TagRule.class).anyMatch(rule -> rule.isForced(tag));
    }

    @Override
    public boolean isByMethod() {
        return rules(ConditionRule.class).anyMatch(ConditionRule::isByMethod);
    }

    @Override
    public List<Instance> route(String method, List<Instance> providers) {
        List<Instance> left = providers;
        for (ConditionRule rule : rules(ConditionRule.class).toList()) {
            left = rule.route(method, left, consumer);
        }
        return left;
    }

    @Override
    public Object routeKey(String method) {
        return rules(ConditionRule.class)
                .map(rule -> rule.conditionsFor(method, consumer))
                .toList();
    }

    /** A timeout, with the key of the rule that sets the timeout. */
    private record RuledTimeout(Duration value, String key) {}

    @Override
    public @Nullable Duration timeout(String method) {
        RuledTimeout timeout = ruledTimeout(method);
        return timeout == null ? null : timeout.value();
    }

    @Override
    public String timeoutFrom(String method) {
        RuledTimeout timeout = ruledTimeout(method);
        return timeout == null ? toString() : timeout.key();
    }

    /**
     * As in Dubbo, a timeout of the method takes precedence over a timeout for all methods, even if the timeouts are in
     * different rules.
     */
    private @Nullable RuledTimeout ruledTimeout(String method) {
        RuledTimeout ofMethod = lastTimeout(method);
        return ofMethod == null ? lastTimeout(ConfiguratorRule.ANY_METHOD) : ofMethod;
    }

    private @Nullable RuledTimeout lastTimeout(String parameterOf) {
        RuledTimeout last = null;
        for (Map.Entry<String, Rule> each : byKey.entrySet()) {
            Duration changed =
                    each.getValue() instanceof ConfiguratorRule rule ? rule.timeout(parameterOf, consumer) : null;
            last = changed == null ? last : new RuledTimeout(changed, each.getKey());
        }
        return last;
    }

    @Override
    public String loadBalancing() {
        return rules(ConfiguratorRule.class)
                .map(rule -> rule.loadBalancing(consumer))
                .filter(name -> !name.isEmpty())
                .reduce("", (earlier, later) -> later);
    }

    @Override
    public String toString() {
        return String.join(", ", byKey.keySet());
    }
}
