package tern.rpc.server;

import org.jspecify.annotations.Nullable;
import tern.rpc.concurrent.WorkerPool;
import tern.rpc.limit.Share;

/**
 * Divides the places of a worker pool (its threads and queue positions) among tenants. A tenant may have at most as
 * many running and waiting calls as there are free places. Thread-safe. A race can cause a few calls to be wrongly
 * accepted.
 */
final class TenantPlaces {

    private final WorkerPool pool;
    private final CallCounts<Share> calls = new CallCounts<>();

    TenantPlaces(WorkerPool pool) {
        this.pool = pool;
    }

    /**
     * @param tenant counts the admitted calls of the call's tenant; null if the transport does not distinguish tenants
     */
    boolean hasRoomFor(@Nullable Share tenant) {
        return tenant == null || calls.of(tenant) < pool.maxAdmitted() - pool.admitted();
    }

    /** Adds one to the tenant's number of calls. {@link #leave} must be called when the call has ended. */
    void enter(@Nullable Share tenant) {
        if (tenant != null) {
            calls.add(tenant);
        }
    }

    void leave(@Nullable Share tenant) {
        if (tenant != null) {
            calls.remove(tenant);
        }
    }
}
