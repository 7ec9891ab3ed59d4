package tern.rpc.cluster;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The providers by their tags, with Dubbo's rules. A call with a tag goes to the providers with this tag. If there are
 * none, it goes to the providers without a tag. The tag {@code a|b|c} also tries {@code a|b} and {@code a}. A call
 * without a tag never goes to a provider with one. Immutable.
 */
final class Routes {

    private final List<Target> all;
    private final Map<String, Group> byTag;
    private final @Nullable Group untagged;

    Routes(List<Target> all, ClusterSettings settings) {
        this.all = List.copyOf(all);
        Map<String, List<Target>> sorted = new TreeMap<>();
        for (Target target : all) {
            sorted.computeIfAbsent(target.attributes().tag(), unseen -> new ArrayList<>())
                    .add(target);
        }
        Map<String, Group> groups = new HashMap<>();
        sorted.forEach((tag, targets) -> groups.put(tag, new Group(targets, settings)));
        this.byTag = Map.copyOf(groups);
        this.untagged = groups.get("");
    }

    /** All providers regardless of tags. */
    List<Target> all() {
        return all;
    }

    /**
     * The providers for a call; null if there are none.
     *
     * @param tag empty for none
     * @param force whether a call with a tag must not go to providers without one
     */
    @Nullable
    Group group(String tag, boolean force) {
        if (tag.isEmpty()) {
            return untagged;
        }
        for (String left = tag; !left.isEmpty(); left = left.substring(0, Math.max(0, left.lastIndexOf('|')))) {
            Group found = byTag.get(left);
            if (found != null) {
                return found;
            }
        }
        return force ? null : untagged;
    }
}
