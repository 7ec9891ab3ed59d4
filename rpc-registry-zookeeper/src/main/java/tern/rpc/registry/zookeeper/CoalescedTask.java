package tern.rpc.registry.zookeeper;

import java.time.Duration;
import tern.rpc.cluster.Coalescing;

/**
 * Runs a task after changes: immediately after the first change, and at growing intervals of up to one second while
 * changes continue. A burst of changes therefore causes only a few reads. Confined to the session's thread.
 */
final class CoalescedTask {

    private final Session session;
    private final Runnable task;
    private final Coalescing coalescing = new Coalescing();
    private boolean waiting;

    CoalescedTask(Session session, Runnable task) {
        this.session = session;
        this.task = task;
    }

    /** Runs the task immediately or later. Does nothing if the task is already scheduled. */
    void changed() {
        if (waiting) {
            return;
        }
        long delay = coalescing.delay(session.clock().nanoTime());
        if (delay == 0) {
            run();
        } else {
            waiting = true;
            session.schedule(this::runWaiting, Duration.ofNanos(delay));
        }
    }

    /** Runs a scheduled task early, because its result is needed. */
    void hurry() {
        if (waiting) {
            long delay = coalescing.shortestDelay(session.clock().nanoTime());
            if (delay == 0) {
                run();
            } else {
                session.schedule(this::runWaiting, Duration.ofNanos(delay));
            }
        }
    }

    private void runWaiting() {
        if (waiting) { // The field "waiting" is false if hurry() has already run the task.
            run();
        }
    }

    private void run() {
        waiting = false;
        coalescing.passed(session.clock().nanoTime());
        task.run();
    }
}
