package tern.rpc.client;

import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import tern.rpc.NanoClock;
import tern.rpc.ServiceKey;
import tern.rpc.metrics.RpcMeter;
import tern.rpc.metrics.RpcMeters;

/**
 * The state that all of a client's references to one service share: the budgets for additional attempts (retries and
 * hedges), the number of hedges, and the number of calls answered by a fallback.
 */
record ServiceAttempts(RetryPolicy retries, Hedging.Budget hedges, LongAdder fallbacks, Supplier<Hedging> newHedging) {

    static ServiceAttempts of(ServiceKey service, NanoClock clock, RpcMeters meters, ScheduledExecutorService timer) {
        RetryPolicy retries = new RetryPolicy(clock);
        Hedging.Budget hedges = new Hedging.Budget(retries, clock);
        ServiceAttempts made =
                new ServiceAttempts(retries, hedges, new LongAdder(), () -> new Hedging(clock, hedges, timer));
        String name = service.toString();
        meters.counter(RpcMeter.CLIENT_HEDGES, made.hedges, Hedging.Budget::sent, RpcMeter.SERVICE, name);
        meters.counter(RpcMeter.CLIENT_FALLBACKS, made.fallbacks, LongAdder::sum, RpcMeter.SERVICE, name);
        return made;
    }

    RpcClient.AttemptCounts counts() {
        return new RpcClient.AttemptCounts(retries.retries(), hedges.sent(), fallbacks.sum());
    }

    /** Creates the object that decides when the calls to one method are hedged. */
    Hedging hedging() {
        return newHedging.get();
    }
}
