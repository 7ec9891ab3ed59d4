package tern.rpc.concurrent;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.Thrown;

/**
 * A task that a timer repeats. A {@link java.util.concurrent.ScheduledExecutorService} silently stops repeating a task
 * that throws an exception once. A heartbeat or a lookup would then never run again, although the cause may pass, such
 * as memory that is exhausted for a moment. This class logs the exception instead. After a failure, it logs nothing
 * more until a run has succeeded.
 */
public final class PeriodicTask implements Runnable {

    private static final Logger LOG = LoggerFactory.getLogger(PeriodicTask.class);

    private final String name;
    private final Runnable task;
    private boolean failing; // a timer never runs the same task on two threads at once

    /** @param name what the task does, for the log, such as "The lookup of host names" */
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
                Thrown.log(e, shown -> LOG.error("{} failed, and will be repeated", name, shown));
            }
        }
    }
}
