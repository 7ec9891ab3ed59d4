package tern.rpc.cluster;

import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Instance;

/**
 * The last choice of providers from a long list. The references to several services of one application get the same
 * list object and make the same choice, so only the first reference has to compute the choice. Thread-safe.
 */
final class LastChoice {

    private record Choice(List<Instance> listed, String protocol, String zone, int subset, List<Instance> chosen) {}

    private volatile @Nullable Choice last;

    /**
     * Returns the last choice if it was made from an equal list with equal settings. Otherwise makes a choice.
     */
    List<Instance> of(List<Instance> listed, String protocol, String zone, int subset, Supplier<List<Instance>> maker) {
        Choice known = last;
        if (known != null
                && known.subset == subset
                && known.protocol.equals(protocol)
                && known.zone.equals(zone)
                && known.listed.equals(listed)) { // The lists are usually the same object, so equals is fast.
            return known.chosen;
        }
        List<Instance> chosen = List.copyOf(maker.get());
        last = new Choice(listed, protocol, zone, subset, chosen);
        return chosen;
    }
}
