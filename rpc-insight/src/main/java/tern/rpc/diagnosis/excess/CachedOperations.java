package tern.rpc.diagnosis.excess;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.sample.SampledCall;
import tern.rpc.diagnosis.stack.CacheLoads;

/**
 * Finds operations and code that calls run to load a value of a cache. The stacks of their threads show the cache.
 */
public final class CachedOperations {

    /** A cache is reported only if at least {@value} sampled calls load a value for it. */
    private static final int MIN_CALLS = 2;

    /** A cache is assumed to have lost its values if at least {@value} of the calls are late because of a load. */
    private static final double MOST_CALLS = 0.5;

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
        return cacheOf(
                operation,
                samples -> samples.list.stream().noneMatch(sample -> sample.phase() == phase)
                        ? null
                        : samples.cache != null && samples.loadedIn == phase ? samples.cache : "");
    }

    /**
     * Returns the name of a cache if calls run the given code, outside of operations, to load a value into this cache,
     * and most calls do so; otherwise null. If only a few calls load a value, the cache holds its values as usual. A
     * {@link ThreadLocal} loses no values, but each new thread computes one.
     */
    public @Nullable String lostCacheOf(Part code) {
        String cache = cacheOf(
                code,
                samples ->
                        samples.list.stream().noneMatch(sample -> sample.part().equals(code))
                                ? null
                                : samples.loadingCode.getOrDefault(code, ""));
        return cache != null && (cache.equals(CacheLoads.THREAD_LOCAL) || shareOfCalls(code) >= MOST_CALLS)
                ? cache
                : null;
    }

    /** @param loaded returns the cache for which a call ran the operation or code; empty if none, null if unknown */
    private @Nullable String cacheOf(Part part, Function<SampledCall, @Nullable String> loaded) {
        int sampled = 0;
        int loading = 0;
        String cache = null;
        for (ExcessTime.Counted counted : excess.accounts) {
            SampledCall samples = evidence.samples().get(counted.call().ledger());
            String found =
                    samples != null && counted.times().sum(Operations.only(part)) > 0 ? loaded.apply(samples) : null;
            if (found != null) {
                sampled++;
                loading += found.isEmpty() ? 0 : 1;
                cache = found.isEmpty() ? cache : found;
            }
        }
        return loading >= MIN_CALLS && 2 * loading >= sampled ? cache : null;
    }

    /**
     * Considers the methods with late calls that run the given code. Returns the share of their calls that are late and
     * run it.
     */
    private double shareOfCalls(Part code) {
        Map<String, Integer> running = new HashMap<>();
        for (ExcessTime.Counted counted : excess.accounts) {
            if (counted.times().of(code) > 0) {
                running.merge(counted.call().method(), 1, Integer::sum);
            }
        }
        Set<String> methods = running.keySet();
        long bad = evidence.bad().stream()
                .map(EndedCall::method)
                .filter(methods::contains)
                .count();
        long good = EndedCall.ONE_IN
                * evidence.good().stream()
                        .map(EndedCall::method)
                        .filter(methods::contains)
                        .count();
        long all = excess.accounts.stream()
                .filter(counted -> methods.contains(counted.call().method()))
                .count();
        int loads = running.values().stream().mapToInt(Integer::intValue).sum();
        return bad == 0 || all == 0 ? 0 : (double) loads / all * bad / (bad + good);
    }
}
