package tern.rpc.diagnosis.sample;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.stack.ThreadSnapshot;
import tern.rpc.diagnosis.stack.ThreadSnapshot.Carrier;

/**
 * A thread that is working on a running call.
 *
 * @param work the ledger of the call or, if this thread does only some of the call's work, the ledger of this work
 */
record CallThread(RunningCall call, CallLedger work, long id, Phase phase) {

    /**
     * Returns the call's own thread. If the call continues without its own thread, returns the other threads that are
     * working for it, such as a thread that writes a long answer. Returns an empty list if no thread is working on the
     * call.
     */
    static List<CallThread> of(RunningCall call) {
        if (call.phase() == Phase.QUEUE) {
            return List.of();
        }
        if (call.threadId() != RunningCall.NO_THREAD) {
            return List.of(new CallThread(call, call.ledger(), call.threadId(), call.phase()));
        }
        return call.ledger().parts().stream()
                .map(part -> new CallThread(call, part, part.thread().getId(), part.phase()))
                .toList();
    }

    boolean runsPart() {
        return call.threadId() == RunningCall.NO_THREAD;
    }

    /**
     * Reads the stack of a virtual thread; null if it has no stack. The JVM does not report the stacks of virtual
     * threads by thread id.
     */
    @Nullable
    ThreadSnapshot virtual() {
        Thread thread = work.thread();
        if (thread.getId() != id) {
            return null;
        }
        Carrier carrier = Carrier.of(thread);
        StackTraceElement[] frames = thread.getStackTrace();
        return frames.length == 0
                ? null
                : new ThreadSnapshot(thread.getName(), id, thread.getState(), frames, null, null, -1, -1, carrier);
    }

    /**
     * Returns whether the thread is still working on the call. A thread that does only some of a call's work does other
     * work afterwards.
     */
    boolean isWorking() {
        return !runsPart() || call.ledger().parts().contains(work);
    }
}
