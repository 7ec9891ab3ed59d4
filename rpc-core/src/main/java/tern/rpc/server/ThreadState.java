package tern.rpc.server;

import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;
import tern.rpc.Thrown;

/**
 * What the code of a call may leave on a thread, where the next call would find it: taken away before and after each. An
 * interrupt that came while the call ran is part of it.
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
        Thread.interrupted();
        clear(MDC::clear);
        for (Runnable clear : clears) {
            clear(clear);
        }
    }

    /** A call must come to its end although one of these fails, so nothing is thrown on. */
    private static void clear(Runnable clear) {
        try {
            clear.run();
        } catch (Throwable e) {
            Thrown.log(
                    e,
                    shown -> LOG.warn(
                            "{} could not clear the state of a thread",
                            clear.getClass().getName(),
                            shown));
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
