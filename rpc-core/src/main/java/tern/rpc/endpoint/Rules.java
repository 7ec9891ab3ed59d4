package tern.rpc.endpoint;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Rules that change the providers of a service, and the choice among them, while clients run. A source passes them with
 * its snapshots. Implementations are immutable, and two objects with the same rules are equal. Methods run on several
 * threads and return quickly.
 */
public interface Rules {

    /** No rules. */
    Rules NONE = new Rules() {
        @Override
        public String toString() {
            return "no rules";
        }
    };

    /**
     * The attributes in force.
     *
     * @return those of the provider if no rule changes them; null if the provider must get no calls
     */
    default @Nullable Attributes attributes(Instance provider) {
        return provider.attributes();
    }

    /** The tags of a provider: its own and those that rules give it. A list with an empty text means no tag. */
    default List<String> tags(Instance provider) {
        return List.of(provider.attributes().tag());
    }

    /** Whether calls with this tag must not go to providers without a tag. */
    default boolean isForced(String tag) {
        return false;
    }

    /** Whether {@link #route} depends on the method. */
    default boolean isByMethod() {
        return false;
    }

    /**
     * The providers that may take a call.
     *
     * @param method the name of the method; empty for any method, if {@link #isByMethod} is false
     * @return the same list if no rule applies; empty if rules forbid all of them
     */
    default List<Instance> route(String method, List<Instance> providers) {
        return providers;
    }

    /** The timeout of unary calls of the method, all attempts together; null if no rule sets it. */
    default @Nullable Duration timeout(String method) {
        return null;
    }

    /** The name of the load balancing, as in {@code rpc.client.load-balancing}; empty if no rule sets it. */
    default String loadBalancing() {
        return "";
    }

    /** Names the rules in messages, by the places where they can be changed. */
    @Override
    String toString();
}
