package tern.rpc.server;

import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.Durations;
import tern.rpc.NanoClock;
import tern.rpc.limit.Limit;
import tern.rpc.limit.Limiter;

/** Changes the limits of a server while it runs. Calls that have been admitted are not affected. Thread-safe. */
public final class ServerControls {

    private final Limiter limiter;
    private final Supplier<Limit> defaultLimit;
    private final HandlerRegistry methods;
    private final Dispatcher dispatcher;
    private final NanoClock clock;

    ServerControls(
            Limiter limiter,
            Supplier<Limit> defaultLimit,
            HandlerRegistry methods,
            Dispatcher dispatcher,
            NanoClock clock) {
        this.limiter = limiter;
        this.defaultLimit = defaultLimit;
        this.methods = methods;
        this.dispatcher = dispatcher;
        this.clock = clock;
    }

    /** Returns the limit on admitted calls as a property contains it: a number, or {@code adaptive}. */
    public String limit() {
        return limiter.isFixed() ? String.valueOf(limiter.limit()) : "adaptive";
    }

    /**
     * Replaces the limit on admitted calls.
     *
     * @param changed the new limit, which must not be in use elsewhere; null for the server's default limit
     */
    public void limit(@Nullable Limit changed) {
        limiter.change(changed == null ? defaultLimit.get() : changed, clock.nanoTime());
    }

    /**
     * Sets, replaces or removes the limit on running calls to one method, for all overloads and exports together.
     *
     * @param service the interface name
     * @param changed the new limit, which must not be in use elsewhere; null for none
     * @throws IllegalArgumentException if the interface is not exported or has no such method
     */
    public void limit(String service, String method, @Nullable Limit changed) {
        methods.limit(new MethodLimits.Key(service, method), changed);
    }

    /**
     * Changes the time that calls may wait for a worker. Applies to calls that arrive later.
     *
     * @param changed the new maximum wait, more than zero
     */
    public void maxQueueWait(Duration changed) {
        dispatcher.maxQueueWait(Durations.moreThanZero("rpc.server.max-queue-wait", changed));
    }
}
