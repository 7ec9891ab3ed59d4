package tern.rpc.server;

import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import tern.rpc.concurrent.WorkerPool;
import tern.rpc.limit.Share;

/**
 * The threads that run stream callbacks. These threads are divided among tenants by the same rules as the threads that
 * run methods ({@link FairWorkers}). While all threads are busy, a task gets a spare thread only if its tenant's
 * running and waiting tasks do not outnumber the free spare threads. No task is ever refused. If all threads are
 * blocked for a long time, the calls of waiting tasks are ended instead ({@link WorkerPool#growing}). Thread-safe.
 */
final class StreamThreads {

    private final WorkerPool threads;
    private final @Nullable WorkerPool spare;

    /** @param spare a pool with {@link FairWorkers#spareThreads} threads, used only by this object; may be null */
    StreamThreads(WorkerPool threads, @Nullable WorkerPool spare) {
        this.threads = threads;
        this.spare = spare;
    }

    /** A callback of a stream. */
    private record Callback(Runnable task, @Nullable Share share, Runnable endCall) implements Runnable {
        @Override
        public void run() {
            try {
                task.run();
            } finally {
                ends();
            }
        }

        void ends() {
            if (share != null) {
                share.streamEnds();
            }
        }
    }

    /**
     * Returns the executor for a stream's callbacks.
     *
     * @param share counts the calls of the stream's tenant; null if the transport does not distinguish tenants
     * @param endCall ends the call if no thread is free for its callbacks
     */
    Executor of(@Nullable Share share, Runnable endCall) {
        return task -> execute(new Callback(task, share, endCall));
    }

    /** Returns the number of threads that currently run callbacks. */
    int number() {
        return threads.threads() + (spare == null ? 0 : spare.threads());
    }

    /** Ends the call whose callback got no thread for a long time. */
    static void giveUp(Runnable waiting) {
        if (waiting instanceof Callback callback) {
            callback.endCall.run();
        }
    }

    private void execute(Callback callback) {
        Share share = callback.share;
        if (share != null) {
            share.streamBegins();
        }
        try {
            if (share == null || threads.hasRoom() || !offerToSpare(callback, share)) {
                threads.executeAdmitted(callback);
            }
        } catch (Throwable e) { // the task could not be queued, because memory is exhausted
            callback.ends();
            throw e;
        }
    }

    private boolean offerToSpare(Runnable task, Share share) {
        return spare != null && FairWorkers.maySpare(spare, share, share.streaming()) && spare.offer(task);
    }
}
