package tern.rpc.endpoint;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Rules that change the attributes of a service's providers, or that determine how clients choose among these
 * providers. Rules can change while clients are running. A source passes the rules in its snapshots. Implementations
 * must be immutable, and two objects with the same rules must be equal. Several threads may call the methods at the
 * same time. The methods must return quickly.
 */
public interface Rules {

    /** Rules that change nothing. */
    Rules NONE = new Rules() {
        @Override
        public String toString() {
            return "no rules";
        }
    };

    /**
     * Returns the attributes that apply to a provider. If no rule changes the attributes, these are the provider's own
     * attributes. Returns null if the provider must get no calls.
     */
    default @Nullable Attributes attributes(Instance provider) {
        return provider.attributes();
    }

    /**
     * Returns the tags of a provider: its own tag, unless rules remove this tag, and the tags that rules add. A list
     * that contains only an empty string means that the provider has no tag. Such a provider also takes calls with a
     * tag that no provider has.
     */
    default List<String> tags(Instance provider) {
        return List.of(provider.attributes().tag());
    }

    /** Returns whether the provider takes calls without a tag. */
    default boolean takesCallsWithoutTag(Instance provider) {
        return tags(provider).contains("");
    }

    /** Returns whether calls with the given tag must not go to providers without a tag. */
    default boolean isForced(String tag) {
        return false;
    }

    /** Returns whether {@link #route} depends on the called method. */
    default boolean isByMethod() {
        return false;
    }

    /**
     * Returns the providers that may accept a call.
     *
     * @param method the method name; may be empty if {@link #isByMethod} returns false
     * @return the given list if no rule applies; an empty list if rules exclude all providers
     */
    default List<Instance> route(String method, List<Instance> providers) {
        return providers;
    }

    /**
     * Returns a value that identifies the rules for a method. If two methods have equal values, {@link #route} returns
     * the same providers for both methods.
     */
    default Object routeKey(String method) {
        return isByMethod() ? method : "";
    }

    /** Returns the timeout for unary calls to the method, including all attempts, or null if no rule sets a timeout. */
    default @Nullable Duration timeout(String method) {
        return null;
    }

    /** Returns the place where the {@linkplain #timeout timeout} of the method can be changed, for error messages. */
    default String timeoutFrom(String method) {
        return toString();
    }

    /**
     * Returns the name of the load balancing policy, as in {@code rpc.client.load-balancing}, or an empty string if no
     * rule sets a policy.
     */
    default String loadBalancing() {
        return "";
    }

    /**
     * Returns whether a source's rules take precedence over these rules, if the application sets these rules for a
     * reference. By default, the application's rules take precedence.
     */
    default boolean yieldsToSource() {
        return false;
    }

    /**
     * Returns texts for storing these rules. In a later process, {@link EndpointSource#rules} of the same source
     * restores equal rules from these texts. Returns an empty list if the rules cannot be stored.
     */
    default List<String> texts() {
        return List.of();
    }

    /** Returns the place where the rules can be changed, for use in logs and error messages. */
    @Override
    String toString();
}
