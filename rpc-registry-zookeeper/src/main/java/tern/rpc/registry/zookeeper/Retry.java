package tern.rpc.registry.zookeeper;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Retries a task after failures, while the session is connected. The maximum pause grows from half a second to 30
 * seconds. Confined to the session's thread.
 */
final class Retry {

    private static final Duration FIRST_PAUSE = Duration.ofMillis(500);
    static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);
    private static final int MAX_DOUBLINGS = 10;

    private final Session session;
    private final Runnable task;
    private int failures;
    private boolean waiting;

    /**
     * @param task runs after each pause, unless the connection has been lost. After a reconnection, all nodes are read
     *     again without this task
     */
    Retry(Session session, Runnable task) {
        this.session = session;
        this.task = task;
    }

    /** Runs the task after a pause. Does nothing if the task is already scheduled. */
    void failed() {
        if (waiting) {
            return;
        }
        waiting = true;
        long pause = Math.min(LONGEST_PAUSE.toMillis(), FIRST_PAUSE.toMillis() << Math.min(failures++, MAX_DOUBLINGS));
        // The pauses vary, so that the clients of one registry do not all retry their requests at the same time.
        session.schedule(
                this::run,
                Duration.ofMillis(pause / 2 + ThreadLocalRandom.current().nextLong(pause / 2 + 1)));
    }

    private void run() {
        waiting = false;
        if (session.isConnected()) {
            task.run();
        }
    }

    /** Resets the pause to its initial length, because the task has succeeded. */
    void succeeded() {
        failures = 0;
    }
}
