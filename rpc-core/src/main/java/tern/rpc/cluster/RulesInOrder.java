package tern.rpc.cluster;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Attributes;
import tern.rpc.endpoint.Instance;
import tern.rpc.endpoint.Rules;

/** A combination of two sets of rules. If both sets define a value, the second set takes precedence. */
record RulesInOrder(Rules first, Rules later) implements Rules {

    static Rules of(Rules first, Rules later) {
        if (later == NONE) {
            return first;
        }
        return first == NONE ? later : new RulesInOrder(first, later);
    }

    @Override
    public @Nullable Attributes attributes(Instance provider) {
        Attributes attributes = first.attributes(provider);
        return attributes == null ? null : later.attributes(new Instance(provider.endpoint(), attributes));
    }

    @Override
    public List<String> tags(Instance provider) {
        if (leavesTag(later, provider)) {
            return first.tags(provider);
        }
        if (leavesTag(first, provider)) {
            return later.tags(provider);
        }
        List<String> tags = new ArrayList<>(first.tags(provider));
        later.tags(provider).stream().filter(tag -> !tags.contains(tag)).forEach(tags::add);
        return tags.size() == 1
                ? tags
                : tags.stream().filter(tag -> !tag.isEmpty()).toList();
    }

    @Override
    public boolean takesCallsWithoutTag(Instance provider) {
        if (leavesTag(later, provider)) {
            return first.takesCallsWithoutTag(provider);
        }
        return leavesTag(first, provider)
                ? later.takesCallsWithoutTag(provider)
                : first.takesCallsWithoutTag(provider) && later.takesCallsWithoutTag(provider);
    }

    /**
     * Returns whether the rules change neither the provider's tag nor the calls that the provider takes because of its
     * tag.
     */
    private static boolean leavesTag(Rules rules, Instance provider) {
        String own = provider.attributes().tag();
        return rules.tags(provider).equals(List.of(own)) && rules.takesCallsWithoutTag(provider) == own.isEmpty();
    }

    @Override
    public boolean isForced(String tag) {
        return first.isForced(tag) || later.isForced(tag);
    }

    @Override
    public boolean isByMethod() {
        return first.isByMethod() || later.isByMethod();
    }

    @Override
    public List<Instance> route(String method, List<Instance> providers) {
        return later.route(method, first.route(method, providers));
    }

    @Override
    public Object routeKey(String method) {
        return List.of(first.routeKey(method), later.routeKey(method));
    }

    @Override
    public @Nullable Duration timeout(String method) {
        Duration timeout = later.timeout(method);
        return timeout == null ? first.timeout(method) : timeout;
    }

    @Override
    public String timeoutFrom(String method) {
        return (later.timeout(method) == null ? first : later).timeoutFrom(method);
    }

    @Override
    public String loadBalancing() {
        return later.loadBalancing().isEmpty() ? first.loadBalancing() : later.loadBalancing();
    }

    @Override
    public String toString() {
        return first + ", " + later;
    }
}
