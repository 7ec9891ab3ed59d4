package tern.rpc.registry.dubbo.rules;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.Instance;

/**
 * A routing rule that consists of conditions, which are applied one after another.
 *
 * @param force whether a condition applies even if no provider matches it
 * @param among the providers from which the rule chooses; null for all
 */
record ConditionRule(
        boolean force, List<Condition> conditions, @Nullable Set<Endpoint> among) implements Rule {

    static ConditionRule of(RuleText text) {
        text.allowHead("conditions");
        List<Condition> conditions = new ArrayList<>();
        if (text.hasTexts("conditions")) {
            text.texts("conditions").forEach(condition -> conditions.add(Condition.parse(condition)));
        } else {
            text.objects("conditions").forEach(condition -> conditions.add(destination(condition)));
        }
        int values = conditions.stream().mapToInt(Condition::size).sum();
        if (values > MAX_VALUES) {
            throw new IllegalArgumentException("it has " + values + " values, more than " + MAX_VALUES);
        }
        return new ConditionRule(text.flag("force", false), Rule.bounded(conditions), null);
    }

    @Override
    public ConditionRule within(Supplier<Set<Endpoint>> providers) {
        return new ConditionRule(force, conditions, Set.copyOf(providers.get()));
    }

    /** Parses a condition in the format of version 3.1. Only conditions with exactly one destination are supported. */
    private static Condition destination(RuleText condition) {
        condition.allow("from", "to");
        List<RuleText> destinations = condition.objects("to");
        if (destinations.size() != 1) {
            throw new IllegalArgumentException(
                    "a condition with " + destinations.size() + " destinations is not understood; expected one");
        }
        String from =
                condition.has("from") ? condition.object("from").allow("match").text("match", "") : "";
        return Condition.of(from, destinations.get(0).allow("match", "weight").text("match", ""));
    }

    boolean isByMethod() {
        return conditions.stream().anyMatch(Condition::isByMethod);
    }

    /** Returns the conditions that apply to a consumer's calls to a method. */
    List<Condition> conditionsFor(String method, RuleConsumer consumer) {
        return conditions.stream()
                .filter(condition -> condition.isFor(method, consumer))
                .toList();
    }

    List<Instance> route(String method, List<Instance> providers, RuleConsumer consumer) {
        Set<Endpoint> ruled = among;
        if (ruled == null) {
            return chosen(method, providers, consumer);
        }
        List<Instance> own = providers.stream()
                .filter(provider -> ruled.contains(provider.endpoint()))
                .toList();
        List<Instance> left = chosen(method, own, consumer);
        if (left.size() == own.size()) {
            return providers;
        }
        Set<Instance> kept = new HashSet<>(left);
        return providers.stream()
                .filter(provider -> !ruled.contains(provider.endpoint()) || kept.contains(provider))
                .toList();
    }

    private List<Instance> chosen(String method, List<Instance> providers, RuleConsumer consumer) {
        List<Instance> left = providers;
        for (Condition condition : conditionsFor(method, consumer)) {
            List<Instance> matching = condition.among(left);
            if (!matching.isEmpty() || force || condition.providers().isEmpty()) {
                left = matching;
            }
        }
        return left;
    }
}
