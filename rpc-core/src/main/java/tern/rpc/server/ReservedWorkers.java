package tern.rpc.server;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tern.rpc.concurrent.WorkerPool;
import tern.rpc.limit.Refusal;
import tern.rpc.limit.Share;

/**
 * The workers for critical services, divided among tenants. Calls to critical services need no permit and often no
 * token, so one tenant could otherwise occupy all of these workers and their queue. A tenant may have at most as many
 * running and waiting calls as there are free places. Thread-safe. A race may cause a few calls to be wrongly accepted.
 */
final class ReservedWorkers {

    private final WorkerPool workers;

    /** The running and waiting calls of each tenant. Tenants without calls have no entry. */
    private final Map<Share, Integer> calls = new ConcurrentHashMap<>();

    ReservedWorkers(WorkerPool workers) {
        this.workers = workers;
    }

    /**
     * Passes a call to a worker.
     *
     * @param tenant the share of the call's tenant, or null if tenants do not matter
     * @return the reason for the refusal, or null if the call is admitted
     */
    @Nullable
    Refusal offer(Runnable call, @Nullable Share tenant) {
        if (tenant == null) {
            return workers.offer(call) ? null : Refusal.QUEUE;
        }
        if (calls.getOrDefault(tenant, 0) >= workers.maxAdmitted() - workers.admitted()) {
            return Refusal.QUEUE;
        }
        calls.merge(tenant, 1, Integer::sum);
        boolean offered = false;
        try {
            offered = workers.offer(() -> run(call, tenant));
        } finally {
            if (!offered) {
                leave(tenant);
            }
        }
        return offered ? null : Refusal.QUEUE;
    }

    private void run(Runnable call, Share tenant) {
        try {
            call.run();
        } finally {
            leave(tenant);
        }
    }

    private void leave(Share tenant) {
        calls.computeIfPresent(tenant, (share, count) -> count == 1 ? null : count - 1);
    }
}
