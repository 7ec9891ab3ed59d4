package tern.rpc.server;

import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import tern.rpc.concurrent.WorkerPool;
import tern.rpc.limit.Share;

/**
 * The threads that run the callbacks of streams. They are shared as {@link FairWorkers} shares the threads of methods.
 * While all are busy, a tenant gets a spare thread only if its running and waiting tasks are no more than the free
 * spare threads. No task is ever refused. Thread-safe.
 */
final class StreamThreads {

    private final WorkerPool threads;
    private final @Nullable WorkerPool spare;

    /**
     * @param spare a pool with {@link FairWorkers#spareThreads} threads that have no other use; null for none
     */
    StreamThreads(WorkerPool threads, @Nullable WorkerPool spare) {
        this.threads = threads;
        this.spare = spare;
    }

    /**
     * The executor for the streams of a tenant.
     *
     * @param share the share of the tenant; null if tenants do not matter
     */
    Executor of(@Nullable Share share) {
        return share == null ? threads::executeAdmitted : task -> execute(task, share);
    }

    private void execute(Runnable task, Share share) {
        share.streamBegins();
        Runnable counted = () -> {
            try {
                task.run();
            } finally {
                share.streamEnds();
            }
        };
        if (threads.hasRoom() || !offerToSpare(counted, share)) {
            threads.executeAdmitted(counted);
        }
    }

    private boolean offerToSpare(Runnable task, Share share) {
        return spare != null && FairWorkers.maySpare(spare, share, share.streaming()) && spare.offer(task);
    }
}
