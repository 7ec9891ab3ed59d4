package tern.rpc.cluster;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import tern.rpc.endpoint.Instance;

/**
 * The providers of a long list, grouped by tag. Within each tag, the providers are in the order of a {@link Ranking}.
 * After a change of a few entries, only these entries are ranked. Thread-safe.
 */
final class RankedProviders {

    /** If more than 1/{@value} of a list has changed, all its providers are ranked again. */
    private static final int SMALL_PART = 16;

    private final long client;
    private final String zone;
    private final Function<Instance, List<String>> tags;
    private final Map<String, Ranking> byTag = new LinkedHashMap<>(); // This object's lock guards byTag.
    private List<Instance> listed = List.of(); // The list that was ranked last, guarded by this object's lock.

    /**
     * @param client a number that identifies the client
     * @param zone the client's zone; may be empty
     * @param tags returns the tags of a provider. An empty list means that the provider is not used
     */
    RankedProviders(long client, String zone, Function<Instance, List<String>> tags) {
        this.client = client;
        this.zone = zone;
        this.tags = tags;
    }

    /** Ranks the list, and passes the result to the reader, which must not keep it. */
    synchronized void read(List<Instance> list, Consumer<Map<String, Ranking>> reader) {
        if (list != listed) {
            ListChange change = ListChange.between(listed, list);
            // If an exception interrupts the change, the next call ranks all providers again.
            listed = List.of();
            if (byTag.isEmpty() || change.size() > list.size() / SMALL_PART) {
                replace(list);
            } else {
                change.removed().forEach(this::remove);
                change.added().forEach(this::add);
            }
            listed = list;
        }
        reader.accept(byTag);
    }

    private void replace(List<Instance> list) {
        byTag.clear();
        List<String> first = list.isEmpty() ? List.of() : tags.apply(list.get(0));
        if (first.size() == 1
                && list.stream().allMatch(instance -> tags.apply(instance).equals(first))) {
            ranking(first.get(0)).set(list); // usually there are no tags, so a long list is not copied
            return;
        }
        Map<String, List<Instance>> instances = new LinkedHashMap<>();
        for (Instance instance : list) {
            for (String tag : tags.apply(instance)) {
                instances.computeIfAbsent(tag, unseen -> new ArrayList<>()).add(instance);
            }
        }
        instances.forEach((tag, tagged) -> ranking(tag).set(tagged));
    }

    private Ranking ranking(String tag) {
        return byTag.computeIfAbsent(tag, unseen -> new Ranking(client, zone));
    }

    private void add(Instance instance) {
        tags.apply(instance).forEach(tag -> ranking(tag).add(instance));
    }

    private void remove(Instance instance) {
        for (String tag : tags.apply(instance)) {
            Ranking ranking = ranking(tag);
            ranking.remove(instance);
            if (ranking.count() == 0) {
                byTag.remove(tag);
            }
        }
    }
}
