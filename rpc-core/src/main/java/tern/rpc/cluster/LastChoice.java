package tern.rpc.cluster;

import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Instance;

/**
 * The last choice of providers from a long list. References to several services of one application get the same list
 * object and make the same choice. Therefore only the first reference must compute the choice. Thread-safe.
 */
final class LastChoice {

    private record Choice(
            List<Instance> listed, String protocol, ClusterSettings settings, ProviderChoice.Connected chosen) {

        /** Returns whether the settings lead to the same choice. The load balancing policies are not compared. */
        boolean isFor(ClusterSettings other) {
            return settings.subset() == other.subset()
                    && settings.zone().equals(other.zone())
                    && settings.tag().equals(other.tag());
        }
    }

    private volatile @Nullable Choice last;

    /**
     * Returns the last choice if it was made from an equal list with equal settings. Otherwise makes a choice.
     */
    ProviderChoice.Connected of(
            List<Instance> listed,
            String protocol,
            ClusterSettings settings,
            Supplier<ProviderChoice.Connected> maker) {
        Choice known = last;
        if (known != null
                && known.isFor(settings)
                && known.protocol.equals(protocol)
                && known.listed.equals(listed)) { // The lists are usually the same object, so equals is fast.
            return known.chosen;
        }
        ProviderChoice.Connected chosen = maker.get();
        last = new Choice(listed, protocol, settings, chosen);
        return chosen;
    }
}
