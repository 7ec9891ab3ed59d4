package tern.rpc.server;

import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/**
 * What the code of a call may leave on a thread, where the next call would find it: taken away before and after each.
 * Thread-safe.
 */
final class ThreadState {

    private static final Logger LOG = LoggerFactory.getLogger(ThreadState.class);

    private final Runnable[] clears;

    ThreadState(List<Runnable> clears) {
        this.clears = clears.toArray(new Runnable[0]);
    }

    /** Of the calling thread. */
    void clear() {
        MDC.clear();
        for (Runnable clear : clears) {
            try {
                clear.run();
            } catch (RuntimeException e) {
                LOG.warn(
                        "{} could not clear the state of a thread",
                        clear.getClass().getName(),
                        e);
            }
        }
    }

    /** The task between two clearances. */
    Runnable around(Runnable task) {
        return () -> {
            clear();
            try {
                task.run();
            } finally {
                clear();
            }
        };
    }
}
