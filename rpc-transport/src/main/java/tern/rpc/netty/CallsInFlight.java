package tern.rpc.netty;

import io.netty.channel.Channel;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.limit.Refusal;

/**
 * The calls in flight on one server connection. Counts the calls, refuses calls above the limits, and checks the
 * deadlines. Confined to the event loop, except where stated otherwise.
 */
public final class CallsInFlight {

    private static final AtomicIntegerFieldUpdater<CallsInFlight> NUMBER =
            AtomicIntegerFieldUpdater.newUpdater(CallsInFlight.class, "number");

    private static final AtomicIntegerFieldUpdater<CallsInFlight> WATCHES =
            AtomicIntegerFieldUpdater.newUpdater(CallsInFlight.class, "watches");

    private static final AtomicIntegerFieldUpdater<CallsInFlight> CHECKS =
            AtomicIntegerFieldUpdater.newUpdater(CallsInFlight.class, "checks");

    /** The maximum number of health checks in flight on one connection (docs/limits.md). */
    private static final int MAX_CHECKS = 16;

    private final ServerPort port;
    private final UnansweredCalls unanswered;
    // the complete requests that have not been answered; updated atomically by the field updater NUMBER
    private volatile int number;
    // the health watches in flight, which do not prevent the connection from being closed; updated atomically by the
    // field updater WATCHES
    private volatile int watches;
    private volatile int checks; // health checks in flight; updated atomically by the field updater CHECKS

    CallsInFlight(ServerPort port, Channel channel) {
        this.port = port;
        this.unanswered = new UnansweredCalls(channel);
    }

    // ---- call limits

    /**
     * Checks the limit on the calls in flight. If the limit is reached, counts a refusal and returns its exception.
     * Otherwise returns null.
     */
    public @Nullable RpcException refusesCall() {
        int limit = port.settings().maxInFlight();
        if (number < limit) {
            return null;
        }
        return refusal(
                Refusal.CONNECTION,
                limit + " of " + limit
                        + " calls of this connection are in flight (set by rpc.limits.max-calls-per-connection)");
    }

    /**
     * Checks the limit on health checks. If the call is a health check above the limit, counts a refusal and returns
     * its exception. Otherwise returns null. The limit prevents one connection from occupying all threads that are
     * reserved for health checks.
     */
    public @Nullable RpcException refusesCheck(NettyServerCall call) {
        int running = checks;
        return call.kind() == CallKind.HEALTH_CHECK && running >= MAX_CHECKS
                ? refusal(
                        Refusal.CONNECTION,
                        running + " of " + MAX_CHECKS + " health checks of this connection are in flight")
                : null;
    }

    /**
     * Checks the limit on streaming calls. If the call is a streaming call above the limit, counts a refusal and
     * returns its exception. Otherwise returns null.
     */
    public @Nullable RpcException refusesStream(NettyServerCall call) {
        String reason =
                call.kind() == CallKind.STREAM ? port.tenants().streams().refusal(call.share()) : null;
        return reason == null ? null : refusal(Refusal.SHARE, reason);
    }

    private RpcException refusal(Refusal reason, String text) {
        refused(reason);
        return RpcException.refusal(StatusCode.RESOURCE_EXHAUSTED, text, Executed.NO);
    }

    /** Reports a refused call to the call handler. The handler counts the call although it did not receive it. */
    public void refused(Refusal reason) {
        port.handler().refused(reason);
    }

    // ---- call events

    /** Called instead of {@link #arriving} and {@link #complete} when a request has arrived in one piece. */
    public void received(NettyServerCall call) {
        arriving(call);
        complete(call);
    }

    /**
     * Called when the first part of a request has arrived. The deadline of the call is checked until the call is
     * answered.
     */
    public void arriving(NettyServerCall call) {
        unanswered.add(call);
    }

    /**
     * Called when an incomplete request whose deadline was checked only once a second is now complete. From this point
     * on, the deadline is checked frequently.
     */
    public void servedLate(NettyServerCall call) {
        unanswered.wake(call);
    }

    /** Called when a complete request has arrived and can be served. */
    public void complete(NettyServerCall call) {
        port.counters().received();
        NUMBER.incrementAndGet(this);
        switch (call.kind()) {
            case STREAM -> port.tenants().streams().opened(call.share());
            case HEALTH_CHECK -> CHECKS.incrementAndGet(this);
            case HEALTH_WATCH -> WATCHES.incrementAndGet(this);
            case UNARY -> {}
        }
        port.handler().handle(call);
    }

    /** Called when a call has been answered. Any thread may call this method. */
    void answered(NettyServerCall call) {
        switch (call.kind()) {
            case STREAM -> port.tenants().streams().closed(call.share());
            case HEALTH_CHECK -> CHECKS.decrementAndGet(this);
            case HEALTH_WATCH -> WATCHES.decrementAndGet(this);
            case UNARY -> {}
        }
        NUMBER.decrementAndGet(this);
        port.counters().answered();
    }

    /** Called when the client has disconnected. Answers to the calls are no longer needed. */
    void disconnected() {
        unanswered.disconnected();
    }

    // ---- closing conditions

    /** Returns whether at least one complete request is unanswered. Any thread may call this method. */
    boolean areAny() {
        return number > 0;
    }

    /**
     * Returns whether an open call prevents the server from closing this connection to make room for a new connection.
     */
    boolean keepConnection() {
        return number > watches || unanswered.keepConnection();
    }

    /**
     * Returns the result of {@link #keepConnection}, which can be slightly out of date. Any thread may call this
     * method.
     */
    boolean mayKeepConnection() {
        // the field "number" counts complete requests; the field "unanswered" contains complete and incomplete requests
        return number > watches || unanswered.mayKeepConnection();
    }

    /**
     * Returns whether at least one call on this connection, other than a health watch, has ended. Any thread may call
     * this method.
     */
    boolean haveEnded() {
        return unanswered.haveEnded();
    }

    /**
     * Returns the time when the most recent end of a call was detected. Health watches do not count. If no call has
     * ended, returns the time when the connection was created. Any thread may call this method.
     */
    long quietSinceNanos() {
        return unanswered.quietSinceNanos();
    }
}
