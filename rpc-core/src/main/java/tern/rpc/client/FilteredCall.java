package tern.rpc.client;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import tern.rpc.Invocation;
import tern.rpc.NanoClock;
import tern.rpc.Response;
import tern.rpc.transport.PendingCall;

/**
 * An asynchronous call that passes through filters. The call ends only once: when the filters end it, or at its
 * deadline if a filter has not yet passed on the call or its answer. Thread-safe.
 */
final class FilteredCall implements BiConsumer<@Nullable Response, @Nullable Throwable> {

    private final EndpointInvoker endpoints;
    private final NanoClock clock;
    private final Invocation call;
    private final long began;
    private final CallFuture<?> future;
    private final PendingCall.Completion end;
    private final AtomicBoolean ended = new AtomicBoolean();
    // Created only if a filter delays the call, because most filters return immediately. Guarded by this object's lock.
    private @Nullable LateFilters late;

    /**
     * @param began the start of the call, for error messages
     * @param future the caller's future
     * @param end ends the call; runs once
     */
    FilteredCall(
            EndpointInvoker endpoints,
            NanoClock clock,
            Invocation call,
            long began,
            CallFuture<?> future,
            PendingCall.Completion end) {
        this.endpoints = endpoints;
        this.clock = clock;
        this.call = call;
        this.began = began;
        this.future = future;
        this.end = end;
    }

    /** Ends the call with the result that the filters returned. */
    @Override
    public void accept(@Nullable Response response, @Nullable Throwable failure) {
        if (ended.compareAndSet(false, true)) {
            LateFilters watched = watched();
            if (watched != null) {
                watched.ended();
            }
            end.completed(response, failure);
        }
    }

    private synchronized @Nullable LateFilters watched() {
        return late;
    }

    /**
     * Ends the call at its deadline, unless the call ends earlier. Called when the filters have returned without
     * passing the call on, and when they have received the answer.
     */
    void watch() {
        if (!ended.get()) {
            lateFilters().watch();
        }
    }

    private synchronized LateFilters lateFilters() {
        LateFilters known = late;
        if (known == null) {
            known = new LateFilters(
                    endpoints.providerWait(),
                    clock,
                    call,
                    began,
                    future::isPassedOn,
                    () -> future.isPassedOn() || endpoints.mayPassOnUnseen(),
                    ended::get,
                    failure -> accept(null, failure));
            late = known;
        }
        return known;
    }
}
