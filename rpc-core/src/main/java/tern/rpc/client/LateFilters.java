package tern.rpc.client;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tern.rpc.Invocation;
import tern.rpc.NanoClock;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;

/**
 * Ends an asynchronous call or a stream at its deadline while a filter holds back the call or its answer. After the
 * filters have passed the call to a connection, the connection checks the deadline. Thread-safe.
 */
final class LateFilters {

    /** The maximum time between the deadline of a sent call and the moment when the filters pass on the failure. */
    private static final long GRACE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final ProviderWait timer;
    private final NanoClock clock;
    private final Invocation call;
    private final long began;
    private final BooleanSupplier passedOn;
    private final BooleanSupplier mayBePassedOn;
    private final BooleanSupplier over;
    private final Consumer<RpcException> end;
    private final AtomicBoolean watching = new AtomicBoolean();
    private volatile ProviderWait.@Nullable Later planned; // the last scheduled check, which may have run

    /**
     * @param began the start of the call, for error messages
     * @param passedOn returns true if the filters have passed the call on and the client has been notified
     * @param mayBePassedOn returns whether the filters may have passed the call on
     * @param over returns whether the call has ended
     * @param end ends the call; runs on the call's executor
     */
    LateFilters(
            ProviderWait timer,
            NanoClock clock,
            Invocation call,
            long began,
            BooleanSupplier passedOn,
            BooleanSupplier mayBePassedOn,
            BooleanSupplier over,
            Consumer<RpcException> end) {
        this.timer = timer;
        this.clock = clock;
        this.call = call;
        this.began = began;
        this.passedOn = passedOn;
        this.mayBePassedOn = mayBePassedOn;
        this.over = over;
        this.end = end;
    }

    /**
     * Schedules the check at the deadline, unless it is already scheduled. Called when the filters have returned, and
     * when they have received the answer. Does nothing if the client is closed, because closing a client fails its
     * calls.
     */
    void watch() {
        if (!over.getAsBoolean()
                && call.deadline().isLimited()
                && !timer.isClosed()
                && watching.compareAndSet(false, true)) {
            lookLater();
        }
    }

    private void lookLater() {
        long left = call.deadline().remainingNanos(clock.nanoTime());
        planned = timer.later(this::look, Math.max(0, left) + (passedOn.getAsBoolean() ? GRACE_NANOS : 0));
        if (over.getAsBoolean()) {
            ended(); // The call may have ended before the check was scheduled, so the check is cancelled.
        }
    }

    /** Called when the call has ended, so that its arguments and result are not kept until its deadline. */
    void ended() {
        ProviderWait.Later look = planned;
        if (look != null) {
            look.cancel();
        }
    }

    private void look() {
        if (over.getAsBoolean()) {
            return;
        }
        long left = call.deadline().remainingNanos(clock.nanoTime());
        if (!timer.isClosed() && left > (passedOn.getAsBoolean() ? -GRACE_NANOS : 0)) {
            // The filters passed the call on before its deadline, so they get some more time to pass on its failure.
            lookLater();
            return;
        }
        boolean sent = mayBePassedOn.getAsBoolean();
        RpcException late = RpcException.refusal(
                left > 0 ? StatusCode.UNAVAILABLE : StatusCode.DEADLINE_EXCEEDED,
                "the filters around " + call + (sent ? "" : ", which was not sent yet,")
                        + (left > 0
                                ? " did not end, and the client is closed"
                                : " did not end within " + call.deadline().describe(began)),
                sent ? Executed.MAYBE : Executed.NO);
        ProviderWait.execute(call, () -> end.accept(late));
    }
}
