package tern.rpc.server;

import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import tern.rpc.concurrent.WorkerPool;
import tern.rpc.limit.Share;

/**
 * The threads that run what streams tell their services, shared as {@link FairWorkers} shares those of methods: while all are
 * busy, a tenant gets one of a few spare threads if it has no more runs of tasks begun or waiting than spare threads are
 * free. Nothing is ever refused. Thread-safe.
 */
final class StreamThreads {

    private final WorkerPool threads;
    private final @Nullable WorkerPool spare;

    /** @param spare with {@link FairWorkers#spareThreads} threads and used by nobody else; null for none */
    StreamThreads(WorkerPool threads, @Nullable WorkerPool spare) {
        this.threads = threads;
        this.spare = spare;
    }

    /**
     * Where the streams of a tenant run.
     *
     * @param share of the tenant; null when tenants do not matter
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
