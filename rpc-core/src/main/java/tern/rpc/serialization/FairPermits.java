package tern.rpc.serialization;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import tern.rpc.NanoClock;

/**
 * Permits that tenants share. For example, a permit can represent one KiB of memory or one thread. A request waits if
 * too few permits are available. Tenants get permits in turn. While a request is waiting because too few permits are
 * free, later requests may overtake it for one second. Without overtaking, a caller could block all other callers with
 * requests that need all permits. After this second, no later request may overtake the waiting request.
 *
 * <p>Requests take their permits only while they are being decoded, and calls keep permits while they run. A request
 * does not wait for running calls to end, because running calls can last for a long time, and could themselves be
 * waiting for this request. If any permit is free and no other request is being decoded, the request is decoded even if
 * it needs more permits than are free.
 *
 * <p>While no request is waiting, permits are taken and released without the lock. Speed is important here, because
 * every request above the smallest size takes permits. Thread-safe.
 */
final class FairPermits {

    /** How long later requests may overtake a waiting request. */
    private static final long PATIENT_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final ReentrantLock lock = new ReentrantLock();
    private final int maxWaiting;
    private final NanoClock clock;

    // the waiting requests by tenant, beginning with the tenant whose turn is next; guarded by lock
    private final Map<Object, Deque<Waiting>> queues = new LinkedHashMap<>();

    private final int total;
    private final AtomicInteger available;
    private int kept; // the number of permits that running calls keep; guarded by lock

    // The number of waiting requests; changed only while holding the lock. A request increments this number before it
    // looks for permits for the last time. A thread that releases permits reads this number after it has returned them.
    // Therefore either the request finds these permits, or the releasing thread finds the request.
    private volatile int waiting;

    /**
     * @param permits the number of permits
     * @param maxWaiting the length of the queue, that is, the maximum number of waiting requests. A request is refused
     *     if the number of its tenant's waiting requests has reached the number of free positions in the queue
     */
    FairPermits(int permits, int maxWaiting, NanoClock clock) {
        this.total = permits;
        this.available = new AtomicInteger(permits);
        this.maxWaiting = maxWaiting;
        this.clock = clock;
    }

    /** The result of {@link #acquire}: whether the request got its permits. */
    enum Result {
        ACQUIRED,
        /** The permits did not become available in time, or the thread was interrupted. */
        TIMED_OUT,
        /** The request is refused immediately, because too many requests are waiting for permits. */
        CROWDED
    }

    private static final class Waiting {

        final int permits;
        final Condition changed;
        final long sinceNanos;
        boolean granted;

        Waiting(int permits, Condition changed, long sinceNanos) {
            this.permits = permits;
            this.changed = changed;
            this.sinceNanos = sinceNanos;
        }
    }

    /**
     * Takes permits, and waits for them if necessary.
     *
     * @param tenant identifies the caller
     */
    Result acquire(Object tenant, int permits, long timeoutNanos) {
        return acquire(tenant, permits, timeoutNanos, maxWaiting);
    }

    /**
     * Works like {@link #acquire(Object, int, long)}, but with the given maximum number of waiting requests.
     *
     * @param places the maximum number of waiting requests; requests that are already waiting are not affected
     */
    Result acquire(Object tenant, int permits, long timeoutNanos, int places) {
        if (waiting == 0 && takeFree(permits)) {
            return Result.ACQUIRED;
        }
        lock.lock();
        try {
            if (!isNextOverdue() && take(permits)) {
                return Result.ACQUIRED;
            }
            Deque<Waiting> own = queues.get(tenant);
            int waitingOfTenant = own == null ? 0 : own.size();
            if (waitingOfTenant >= places - waiting) {
                return Result.CROWDED;
            }
            Waiting request = new Waiting(permits, lock.newCondition(), clock.nanoTime());
            queues.computeIfAbsent(tenant, added -> new ArrayDeque<>()).add(request);
            changeWaiting(1);
            grant(); // permits may have been released without the lock before this request was counted as waiting
            return await(tenant, request, timeoutNanos) ? Result.ACQUIRED : Result.TIMED_OUT;
        } finally {
            lock.unlock();
        }
    }

    private boolean await(Object tenant, Waiting request, long timeoutNanos) {
        long left = timeoutNanos;
        try {
            while (!request.granted && left > 0) {
                left = request.changed.awaitNanos(left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (!request.granted) {
            Deque<Waiting> own = queues.get(tenant);
            if (own != null) {
                removed(tenant, own, request);
            }
            changeWaiting(-1);
            grant(); // The request is removed. Otherwise, it would block later requests after it has waited too long.
        }
        return request.granted;
    }

    /** Changes the number of waiting requests. The calling thread must hold the lock. */
    private void changeWaiting(int change) {
        // no other thread can change "waiting" in the meantime, because the calling thread holds the lock
        int before = waiting;
        waiting = before + change;
    }

    /**
     * Takes the given number of permits without waiting, if this number is available. Returns whether the permits were
     * taken.
     */
    private boolean takeFree(int permits) {
        int before = available.get();
        while (permits <= before) {
            if (available.compareAndSet(before, before - permits)) {
                return true;
            }
            before = available.get();
        }
        return false;
    }

    /**
     * Takes a request's permits if the request may be decoded now. A request may be decoded if its permits are
     * available. A request may also be decoded if no other request is being decoded and running calls have left at
     * least one permit. The number of available permits can then become negative. The calling thread must hold the
     * lock.
     */
    private boolean take(int permits) {
        int before = available.get();
        while (permits <= before || (before > 0 && before + kept == total)) {
            if (available.compareAndSet(before, before - permits)) {
                return true;
            }
            before = available.get();
        }
        return false;
    }

    /** Takes permits for a running call, without waiting. The number of available permits can become negative. */
    void keep(int permits) {
        changeKept(permits);
    }

    /** Releases the permits of a running call. */
    void giveBack(int permits) {
        changeKept(-permits);
    }

    private void changeKept(int permits) {
        if (permits == 0) {
            return;
        }
        lock.lock();
        try {
            kept += permits;
            available.addAndGet(-permits);
            grant();
        } finally {
            lock.unlock();
        }
    }

    /** Releases the permits that {@link #acquire} has taken. */
    void release(int permits) {
        if (permits == 0) {
            return;
        }
        available.addAndGet(permits);
        if (waiting == 0) {
            return;
        }
        lock.lock();
        try {
            grant();
        } finally {
            lock.unlock();
        }
    }

    /** Gives the available permits to waiting requests. */
    private void grant() {
        boolean granted = available.get() > 0 && !queues.isEmpty();
        while (granted) {
            granted = grantOne();
        }
    }

    /** Returns whether the next request, which is the oldest request of the next tenant, has waited too long. */
    private boolean isNextOverdue() {
        return !queues.isEmpty()
                && clock.nanoTime() - queues.values().iterator().next().element().sinceNanos >= PATIENT_NANOS;
    }

    /**
     * Grants permits to the first waiting request that needs no more permits than are free. The tenants are checked in
     * their current order, and the requests of each tenant from the oldest to the newest. Returns false if no request
     * got permits. If the next request has waited for more than a second, only this request may get permits.
     */
    private boolean grantOne() {
        if (isNextOverdue()) {
            Map.Entry<Object, Deque<Waiting>> next =
                    queues.entrySet().iterator().next();
            Waiting overdue = next.getValue().element();
            if (!take(overdue.permits)) {
                return false;
            }
            granted(next.getKey(), next.getValue(), overdue);
            return true;
        }
        for (Map.Entry<Object, Deque<Waiting>> tenant : queues.entrySet()) {
            for (Waiting request : tenant.getValue()) {
                if (take(request.permits)) {
                    granted(tenant.getKey(), tenant.getValue(), request);
                    return true;
                }
            }
        }
        return false;
    }

    /** Called when permits have been taken for a waiting request. */
    private void granted(Object tenant, Deque<Waiting> own, Waiting request) {
        changeWaiting(-1);
        request.granted = true;
        request.changed.signal();
        removed(tenant, own, request);
    }

    /** Removes a request, and moves its tenant behind the other tenants. */
    private void removed(Object tenant, Deque<Waiting> own, Waiting request) {
        own.remove(request);
        queues.remove(tenant);
        if (!own.isEmpty()) {
            queues.put(tenant, own);
        }
    }

    /** Returns whether running calls hold all permits. */
    boolean isHeldByRunningCalls() {
        lock.lock();
        try {
            return kept >= total;
        } finally {
            lock.unlock();
        }
    }

    int available() {
        return available.get();
    }

    /** Returns the number of waiting requests. */
    int waiting() {
        return waiting;
    }
}
