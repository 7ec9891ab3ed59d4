package tern.rpc.server;

import org.jspecify.annotations.Nullable;
import tern.rpc.concurrent.WorkerPool;
import tern.rpc.limit.Refusal;
import tern.rpc.limit.Share;

/**
 * The workers for critical services, divided among tenants ({@link TenantPlaces}). Calls to critical services need no
 * permit from the server's limiter and often no token, so one tenant could otherwise occupy all of these workers and
 * their queue. Thread-safe.
 */
final class ReservedWorkers {

    private final WorkerPool workers;
    private final TenantPlaces places;

    ReservedWorkers(WorkerPool workers) {
        this.workers = workers;
        this.places = new TenantPlaces(workers);
    }

    /**
     * Passes a call to a worker.
     *
     * @param tenant counts the admitted calls of the call's tenant; null if the transport does not distinguish tenants
     * @return the reason for the refusal, or null if the call is admitted
     */
    @Nullable
    Refusal offer(Runnable call, @Nullable Share tenant) {
        if (tenant == null) {
            return workers.offer(call) ? null : Refusal.QUEUE;
        }
        if (!places.hasRoomFor(tenant)) {
            return Refusal.QUEUE;
        }
        places.enter(tenant);
        boolean offered = false;
        try {
            offered = workers.offer(() -> run(call, tenant));
        } finally {
            if (!offered) {
                places.leave(tenant);
            }
        }
        return offered ? null : Refusal.QUEUE;
    }

    private void run(Runnable call, Share tenant) {
        try {
            call.run();
        } finally {
            places.leave(tenant);
        }
    }
}
