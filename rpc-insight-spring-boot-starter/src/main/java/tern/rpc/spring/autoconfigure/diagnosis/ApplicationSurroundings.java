package tern.rpc.spring.autoconfigure.diagnosis;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.springframework.beans.factory.ObjectProvider;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.CallSource;
import tern.rpc.diagnosis.Surroundings;
import tern.rpc.diagnosis.failure.TimeLimit;
import tern.rpc.pool.LoggingMode;
import tern.rpc.pool.PoolSource;
import tern.rpc.pool.StoreNames;
import tern.rpc.spring.autoconfigure.pool.LoggingWatch;

/** Gives the diagnosis access to the application's calls and pools. Thread-safe. */
final class ApplicationSurroundings implements Surroundings {

    private final ObjectProvider<CallSource> calls;
    private final ObjectProvider<PoolSource> pools;
    private final ObjectProvider<LoggingWatch> logging;
    private final ObjectProvider<StoreNames> stores;
    private final List<TimeLimit> limits;

    ApplicationSurroundings(
            ObjectProvider<CallSource> calls,
            ObjectProvider<PoolSource> pools,
            ObjectProvider<LoggingWatch> logging,
            ObjectProvider<StoreNames> stores,
            List<TimeLimit> limits) {
        this.calls = calls;
        this.pools = pools;
        this.logging = logging;
        this.stores = stores;
        this.limits = List.copyOf(limits);
    }

    @Override
    public List<RunningCall> running() {
        return calls.orderedStream()
                .flatMap(source -> source.runningCalls().stream())
                .toList();
    }

    @Override
    public Map<String, Long> refused() {
        Map<String, Long> all = new LinkedHashMap<>();
        calls.orderedStream()
                .forEach(source -> source.refusals().forEach((reason, count) -> all.merge(reason, count, Long::sum)));
        return all;
    }

    @Override
    public List<PoolSource> pools() {
        return pools.orderedStream().toList();
    }

    @Override
    public Map<String, Long> answers() {
        Map<String, Long> all = new LinkedHashMap<>();
        stores.orderedStream().forEach(names -> all.putAll(names.answers()));
        return all;
    }

    @Override
    public Map<String, String> servers() {
        Map<String, String> all = new LinkedHashMap<>();
        stores.orderedStream().forEach(names -> all.putAll(names.servers()));
        return all;
    }

    @Override
    public List<TimeLimit> timeLimits() {
        return limits;
    }

    @Override
    public LoggingMode logging() {
        LoggingWatch watch = logging.getIfAvailable();
        return watch == null ? LoggingMode.ASYNCHRONOUS : watch.mode();
    }
}
