package tern.rpc.server;

import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import tern.rpc.concurrent.WorkerPool;
import tern.rpc.limit.Share;

/**
 * The threads that run stream callbacks. The stream threads are divided among tenants by the same rules as method
 * threads ({@link FairWorkers}). While all threads are busy, a task gets a spare thread only if its tenant's running
 * and waiting tasks do not outnumber the free spare threads. No task is ever refused. Thread-safe.
 */
final class StreamThreads {

    private final WorkerPool threads;
    private final @Nullable WorkerPool spare;

    /** @param spare a pool with {@link FairWorkers#spareThreads} threads, used only by this object; may be null */
    StreamThreads(WorkerPool threads, @Nullable WorkerPool spare) {
        this.threads = threads;
        this.spare = spare;
    }

    /**
     * Returns the executor for the stream callbacks of a tenant.
     *
     * @param share counts the calls of the tenant; null if the transport does not distinguish tenants
     */
    Executor of(@Nullable Share share) {
        return share == null ? threads::executeAdmitted : task -> execute(task, share);
    }

    private void execute(Runnable task, Share share) {
        Runnable counted = () -> {
            try {
                task.run();
            } finally {
                share.streamEnds();
            }
        };
        share.streamBegins();
        try {
            if (threads.hasRoom() || !offerToSpare(counted, share)) {
                threads.executeAdmitted(counted);
            }
        } catch (Throwable e) { // the task could not be queued, because memory is exhausted
            share.streamEnds();
            throw e;
        }
    }

    private boolean offerToSpare(Runnable task, Share share) {
        return spare != null && FairWorkers.maySpare(spare, share, share.streaming()) && spare.offer(task);
    }
}
