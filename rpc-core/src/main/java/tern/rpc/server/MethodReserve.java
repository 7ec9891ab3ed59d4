package tern.rpc.server;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import tern.rpc.MethodDescriptor;
import tern.rpc.concurrent.WorkerPool;
import tern.rpc.limit.Share;
import tern.rpc.transport.ServerCall;

/**
 * A reserve of threads for methods that currently occupy few of the server's threads. Even if many tenants call a slow
 * method, and these calls occupy all other threads, calls to other methods can still run.
 *
 * <p>A call may use the reserve only while all regular threads are busy, and only if its method occupies few threads:
 * at most 1/{@value #FEW_PART} of the regular threads, or at most {@value #FEW} threads. The reserve's queue has as
 * many places as the reserve has threads. A queue is needed because a thread is still counted for a short time after it
 * has sent an answer. The calls to one method in the reserve, running or waiting, are limited to half the number of the
 * reserve's threads, but at least four calls are allowed. The threads and queue positions are divided among tenants
 * ({@link TenantPlaces}). All connections from one address together get at most half of the threads and queue
 * positions.
 *
 * <p>A call that gets no permit from the server's concurrency limiter may still run in the reserve, without a permit.
 * This also applies while regular threads are idle because measurements have reduced the limit. The total number of
 * calls without a permit is also limited, because an asynchronous call can be unfinished after its thread has returned.
 * Thread-safe. A race can cause a few calls to be wrongly accepted.
 */
final class MethodReserve {

    /** The reserve has one thread for every {@value} regular threads. */
    private static final int RESERVE_PART = 8;

    private static final int FEW_PART = 16;

    /** A method that occupies at most {@value} threads may use the reserve, even if there are few regular threads. */
    private static final int FEW = 4;

    /** The maximum number of calls without a permit, as a multiple of the number of threads. */
    private static final int WITHOUT_PERMIT = 2;

    /**
     * While measurements have reduced the limit below the number of threads, the number of calls without a permit is at
     * most 1/{@value} of the limit. This maximum is low, because the processors may be busy.
     */
    private static final int BEYOND_PART = 4;

    private final WorkerPool threads;
    private final int few;
    private final HandlerRegistry methods;
    private final TenantPlaces places;

    /** The number of running and waiting calls of each method. All overloads of a method share the number. */
    private final CallCounts<MethodDescriptor> calls = new CallCounts<>();

    private final AtomicInteger withoutPermit = new AtomicInteger();

    /** One call's thread or queue position in the reserve. Thread-safe. */
    final class Place {

        private final MethodDescriptor method;
        private final @Nullable Share tenant;
        private final AtomicBoolean left = new AtomicBoolean();

        private Place(MethodDescriptor method, @Nullable Share tenant) {
            this.method = method;
            this.tenant = tenant;
            calls.add(method);
            places.enter(tenant);
        }

        /** Releases the thread or queue position. Only the first call to this method has an effect. */
        void leave() {
            if (left.compareAndSet(false, true)) {
                calls.remove(method);
                places.leave(tenant);
            }
        }
    }

    /**
     * @param threads the reserve's thread pool
     * @param regular the number of the server's regular threads
     * @param methods finds the method of a call, and counts the threads of each method
     */
    MethodReserve(WorkerPool threads, int regular, HandlerRegistry methods) {
        this.threads = threads;
        this.places = new TenantPlaces(threads);
        this.few = Math.max(FEW, regular / FEW_PART);
        this.methods = methods;
    }

    /**
     * Returns the number of threads in the reserve for the given number of regular threads; 0 if there are so few
     * regular threads that the server has no reserve.
     */
    static int threads(int regular) {
        return regular / RESERVE_PART;
    }

    /**
     * Admits a call to the reserve after the limiter has refused the call, if its method occupies few threads. For
     * every admitted call, {@link #leaveWithoutPermit} must be called once.
     */
    boolean enterWithoutPermit(ServerCall call) {
        return method(call) != null && enter(WITHOUT_PERMIT * threads.maxThreads());
    }

    /**
     * Like {@link #enterWithoutPermit}, but used while regular threads are idle because measurements have reduced the
     * limit below the number of threads. In this case, the maximum number of calls without a permit, and the maximum
     * number of threads of their methods, are proportional to the limit.
     */
    boolean enterBeyond(int limit, ServerCall call) {
        MethodDescriptor method = method(call);
        return method != null
                && methods.threads(method) <= limit / FEW_PART
                && enter(Math.min(WITHOUT_PERMIT * threads.maxThreads(), Math.max(1, limit / BEYOND_PART)));
    }

    private boolean enter(int max) {
        if (withoutPermit.incrementAndGet() <= max) {
            return true;
        }
        withoutPermit.decrementAndGet();
        return false;
    }

    void leaveWithoutPermit() {
        withoutPermit.decrementAndGet();
    }

    /** Returns the first overload of the call's method; null if the method is unknown or occupies too many threads. */
    private @Nullable MethodDescriptor method(ServerCall call) {
        MethodDescriptor named = call.peekMethod(methods);
        if (named == null || methods.threads(named) > few) {
            return null;
        }
        MethodDescriptor method = named.service().overloads(named.name()).get(0);
        int max = Math.max(FEW, threads.maxThreads() / 2);
        return calls.of(method) < max ? method : null;
    }

    /**
     * Passes a call to the reserve, if its method occupies few threads.
     *
     * @param call the call that the transport has received
     * @param tenant counts the admitted calls of the call's tenant; null if the transport does not distinguish tenants
     * @return whether a thread will run the call
     */
    boolean offer(ServedCall served, ServerCall call, @Nullable Share tenant) {
        MethodDescriptor method = hasRoomFor(tenant) ? method(call) : null;
        if (method == null) {
            return false;
        }
        Place place = new Place(method, tenant);
        served.waitsForReserve(place);
        boolean offered = false;
        try {
            offered = threads.offer(() -> run(served, place));
        } finally {
            if (!offered) {
                served.waitsForReserve(null);
                place.leave();
            }
        }
        return offered;
    }

    private boolean hasRoomFor(@Nullable Share tenant) {
        boolean isPart = tenant != null && tenant.isPart();
        return places.hasRoomFor(tenant) && (!isPart || threads.admitted() < threads.maxAdmitted() / 2);
    }

    private static void run(ServedCall served, Place place) {
        try {
            served.run();
        } finally {
            place.leave();
        }
    }

    /** Returns the number of running calls. */
    int active() {
        return threads.active();
    }

    /** Returns whether all threads of the reserve are busy. If so, waiting calls will not get a thread soon. */
    boolean isSaturated() {
        return threads.isSaturated();
    }
}
