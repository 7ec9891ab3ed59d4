package tern.rpc.server;

import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;
import tern.rpc.Thrown;

/**
 * Before and after each call, clears the state that application code can leave on its thread. This state includes an
 * interrupt that arrived during the call. Thread-safe.
 */
final class ThreadState {

    private static final Logger LOG = LoggerFactory.getLogger(ThreadState.class);

    private final Runnable[] clears;

    ThreadState(List<Runnable> clears) {
        this.clears = clears.toArray(new Runnable[0]);
    }

    void clear() {
        Thread.interrupted();
        clear(MDC::clear);
        for (Runnable clear : clears) {
            clear(clear);
        }
    }

    /**
     * Runs one clearing action. An exception thrown by the action is only logged, because the call must still be
     * completed.
     */
    private static void clear(Runnable clear) {
        try {
            clear.run();
        } catch (Throwable e) {
            Thrown.log(
                    e,
                    exception -> LOG.warn(
                            "{} could not clear the state of a thread",
                            clear.getClass().getName(),
                            exception));
        }
    }

    /** Wraps a task so that the thread's state is cleared before and after it runs. */
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
