package tern.rpc.server;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import tern.rpc.limit.Refusal;
import tern.rpc.metrics.RpcMeter;
import tern.rpc.metrics.RpcMeters;

/** Counts, by reason, the calls refused before their method ran. Thread-safe. */
final class Refusals {

    // The constructor fills this map, which is not changed afterwards.
    private final Map<Refusal, LongAdder> counts = new EnumMap<>(Refusal.class);

    Refusals() {
        for (Refusal reason : Refusal.values()) {
            counts.put(reason, new LongAdder());
        }
    }

    void register(RpcMeters meters) {
        counts.forEach((reason, count) ->
                meters.counter(RpcMeter.SERVER_REFUSED, count, LongAdder::sum, RpcMeter.REASON, reason.key()));
        meters.counter(RpcMeter.SERVER_WORKERS_REJECTED, this, all -> all.of(Refusal.QUEUE) + all.of(Refusal.WAIT));
    }

    void count(Refusal reason) {
        counter(reason).increment();
    }

    long of(Refusal reason) {
        return counter(reason).sum();
    }

    private LongAdder counter(Refusal reason) {
        LongAdder count = counts.get(reason);
        if (count == null) {
            throw new IllegalStateException("no counter for " + reason);
        }
        return count;
    }
}
