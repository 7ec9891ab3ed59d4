package tern.rpc.diagnosis.excess;

import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.sample.SampledCall;

/** Finds operations that calls run to load a value of a cache. The stacks of their threads show the cache. */
public final class CachedOperations {

    /** The minimum number of calls that must load a value. */
    private static final int MIN_CALLS = 2;

    private final Evidence evidence;
    private final ExcessTime excess;

    public CachedOperations(Evidence evidence, ExcessTime excess) {
        this.evidence = evidence;
        this.excess = excess;
    }

    /**
     * Returns the name of a cache, for example {@code Caffeine}, if at least half of the sampled calls run the given
     * operation to load a value into this cache; otherwise null.
     */
    public @Nullable String cacheOf(Part operation) {
        Phase phase = Operations.phase(operation.kind());
        int sampled = 0;
        int loading = 0;
        String cache = null;
        for (ExcessTime.Counted counted : excess.accounts) {
            SampledCall samples = evidence.samples().get(counted.call().ledger());
            boolean isSampled = samples != null
                    && counted.times().sum(Operations.only(operation)) > 0
                    && samples.list.stream().anyMatch(sample -> sample.phase() == phase);
            if (samples != null && isSampled) {
                sampled++;
                boolean loads = samples.cache != null && samples.loadedIn == phase;
                loading += loads ? 1 : 0;
                cache = loads ? samples.cache : cache;
            }
        }
        return loading >= MIN_CALLS && 2 * loading >= sampled ? cache : null;
    }
}
