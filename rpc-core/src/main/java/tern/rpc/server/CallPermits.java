package tern.rpc.server;

import org.jspecify.annotations.Nullable;
import tern.rpc.MethodDescriptor;
import tern.rpc.limit.Refusal;
import tern.rpc.serialization.LargeMessages;
import tern.rpc.transport.ServerCall;

/**
 * The permits, threads and memory that one call holds on the server. {@link ServedCall} decides when the call releases
 * them. This class is the superclass of {@code ServedCall}, because a separate object would cost an allocation per
 * call.
 */
abstract class CallPermits {

    final Dispatcher dispatcher;
    final ServerCall call;

    private final boolean critical; // true if the call may wait for a worker until its deadline
    private final boolean counted; // true if the server's limiter counts the call

    // The thread or queue position that the call occupies in the MethodReserve, or null if the call does not use this
    // reserve. Set only before a worker gets the call.
    private volatile MethodReserve.@Nullable Place reserved;
    private volatile boolean spare; // true if a spare thread runs the call; set only before a worker gets the call

    // The worker sets the following fields, which are read after the worker has finished.
    private @Nullable MethodPlace methodPlace; // the permit from the method's limiter; null if the method has no limit
    private int heldMemory; // the memory permits for the decoded request
    private boolean threadReturned; // true if the worker is no longer counted as a thread that runs the method
    private boolean returned; // true if the call is counted as unfinished after its worker has finished

    /**
     * @param critical whether the call belongs to a critical service, and may wait for a worker until its deadline
     * @param counted whether the server's limiter counts the call
     */
    CallPermits(Dispatcher dispatcher, ServerCall call, boolean critical, boolean counted) {
        this.dispatcher = dispatcher;
        this.call = call;
        this.critical = critical;
        this.counted = counted;
    }

    // The following methods are called before a worker gets the call.

    /** Sets whether a spare thread runs the call. Called before a worker gets the call. */
    void waitsForSpareThread(boolean spareThread) {
        spare = spareThread;
    }

    /**
     * Records which thread or queue position of the method reserve the call occupies. Called before a worker gets the
     * call.
     */
    void waitsForReserve(MethodReserve.@Nullable Place place) {
        reserved = place;
    }

    boolean isCritical() {
        return critical;
    }

    /** Returns whether a spare thread runs the call. */
    boolean isSpare() {
        return spare;
    }

    /** Returns whether the call has a thread or a queue position in the method reserve. */
    boolean isReserved() {
        return reserved != null;
    }

    /** Releases the permits of a call whose method will not run. */
    void leaveUnserved() {
        if (counted) {
            dispatcher.leaveUnserved(call);
        } else if (!critical) {
            dispatcher.leaveWithoutPermit();
        }
        MethodPlace held = methodPlace;
        if (held != null) {
            held.leaveUnserved();
        }
    }

    // The following methods are called while a worker prepares and runs the method.

    /**
     * Takes a permit from the method's limiter before the request is decoded, if the transport already knows the
     * method.
     */
    void enterNamedMethod(long now) {
        MethodDescriptor named = call.namedMethod();
        // Unauthorized callers must not learn that the method has reached its limit.
        if (named != null && !dispatcher.gate().hasAuthorizers()) {
            enterMethod(named, dispatcher.registry().limiter(named), now);
        }
    }

    /**
     * Takes a permit from the method's limiter, unless the call has one.
     *
     * @throws tern.rpc.RpcException RESOURCE_EXHAUSTED if the limiter refuses the call
     */
    void enterMethod(MethodDescriptor method, @Nullable MethodLimiter limiter, long now) {
        if (limiter == null || methodPlace != null) {
            return;
        }
        methodPlace = limiter.enter(call.share(), now);
        if (methodPlace == null) {
            dispatcher.refused(Refusal.METHOD);
            throw MethodLimits.full(method, limiter);
        }
    }

    /** Takes permits for the memory of the decoded request. */
    void holdMemory(long requestMemory) {
        heldMemory = LargeMessages.hold(requestMemory);
    }

    /** Counts the worker as a thread that runs the method, until {@link #threadReturns} is called. */
    void threadEnters(MethodHandler method) {
        method.threadEnters();
    }

    /**
     * Records that a unary call no longer needs its thread. Called before the answer is sent. The caller may send its
     * next call before the thread has finished the answered call. When that call arrives, the answered call must no
     * longer count as occupying a thread of its tenant or its method.
     */
    void methodReturned(MethodHandler method) {
        threadReturns(method);
        MethodReserve.Place place = reserved;
        if (place != null) {
            place.leave();
        }
        if (spare && !returned) {
            returned = true;
            dispatcher.workerLeaves(call);
        }
    }

    /** Records that the worker no longer runs the method. Only the first call to this method has an effect. */
    void threadReturns(MethodHandler method) {
        if (!threadReturned) {
            threadReturned = true;
            method.threadReturns();
        }
    }

    // The following methods are called when the worker has finished.

    /**
     * Returns the stream's permit to the server's limiter, and releases the memory of the stream's request. Called when
     * the stream's worker has finished. After that, the stream keeps no permit, because a stream can last for hours,
     * and other limits apply to its work.
     */
    void streamContinues() {
        leaveServer(false);
        LargeMessages.ended(heldMemory);
        heldMemory = 0;
    }

    /** Records that a unary call continues without its worker until another thread completes it. */
    void workerLeaves() {
        if (counted && !returned) {
            dispatcher.workerLeaves(call);
        }
    }

    /** Undoes {@link #workerLeaves}, because the call has ended in the meantime. */
    void workerStays() {
        if (counted && !returned) {
            dispatcher.workerStays(call);
        }
    }

    /**
     * Releases the permits of a call that has ended and whose worker has finished.
     *
     * @param isStream whether {@link #streamContinues} has already released some of the permits
     * @param workerLeft whether the worker finished before the call ended
     */
    void release(boolean isStream, boolean workerLeft) {
        LargeMessages.ended(heldMemory);
        if (!isStream) {
            leaveServer(workerLeft);
        }
        MethodPlace held = methodPlace;
        if (held != null) {
            held.leave(dispatcher.clock().nanoTime());
        }
    }

    private void leaveServer(boolean workerLeft) {
        if (!counted) {
            if (!critical) {
                dispatcher.leaveWithoutPermit();
            }
            return;
        }
        if (workerLeft || returned) {
            dispatcher.workerStays(call);
        }
        dispatcher.leave(call);
    }
}
