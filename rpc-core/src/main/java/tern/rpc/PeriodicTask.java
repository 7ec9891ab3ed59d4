package tern.rpc;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A task that a timer repeats. A {@link java.util.concurrent.ScheduledExecutorService} silently stops repeating a task
 * as soon as the task throws an exception. A heartbeat or a lookup would then never run again, even if the cause was
 * temporary, such as a brief shortage of memory. This class logs the exception instead. After a failure, it logs
 * nothing more until a run has succeeded.
 */
public final class PeriodicTask implements Runnable {

    private static final Logger LOG = LoggerFactory.getLogger(PeriodicTask.class);

    private final String name;
    private final Runnable task;
    // "failing" needs no lock, because a timer never runs the same task on two threads at the same time.
    private boolean failing;

    /** @param name the name of the task in the log, such as "The lookup of host names" */
    public PeriodicTask(String name, Runnable task) {
        this.name = name;
        this.task = task;
    }

    @Override
    public void run() {
        try {
            task.run();
            failing = false;
        } catch (Throwable e) {
            if (!failing) {
                failing = true;
                Thrown.log(e, exception -> LOG.error("{} failed, and will be repeated", name, exception));
            }
        }
    }
}
