package tern.rpc.client;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import tern.rpc.NanoClock;
import tern.rpc.endpoint.Endpoint;

/** The budgets of one reference for retries after failures of each of its providers. Thread-safe. */
final class ProviderBudgets {

    /** Providers that come and go must not fill the memory. */
    private static final int MAX_PROVIDERS = 16_384;

    private final NanoClock clock;
    private final Map<Endpoint, AttemptBudget> budgets = new ConcurrentHashMap<>();

    ProviderBudgets(NanoClock clock) {
        this.clock = clock;
    }

    AttemptBudget of(Endpoint provider) {
        AttemptBudget known = budgets.get(provider);
        if (known != null) {
            return known;
        }
        if (budgets.size() >= MAX_PROVIDERS) {
            budgets.clear();
        }
        return budgets.computeIfAbsent(provider, unknown -> AttemptBudget.forRetries(clock));
    }
}
