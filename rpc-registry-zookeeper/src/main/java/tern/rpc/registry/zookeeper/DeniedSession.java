package tern.rpc.registry.zookeeper;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Connects a session again after ZooKeeper has rejected its user and password. After such a rejection, the ZooKeeper
 * client does not connect again, even if the server would accept the user later. The pauses between the attempts grow
 * to 30 seconds. Confined to the session's thread.
 */
final class DeniedSession {

    private static final Duration FIRST_PAUSE = Duration.ofMillis(500);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);
    private static final int MAX_DOUBLINGS = 10;

    /** After this time without a rejection, the pauses begin again with the shortest pause. */
    private static final Duration FORGOTTEN_AFTER = Duration.ofMinutes(2);

    private final Session session;
    private boolean isDenied;
    private int rejections;
    private long lastNanos; // the time of the last rejection; unused before the first rejection

    DeniedSession(Session session) {
        this.session = session;
    }

    /** Called when ZooKeeper has rejected the user and the password. */
    void began() {
        if (isDenied) {
            return; // The session already waits to connect again.
        }
        isDenied = true;
        long now = session.clock().nanoTime();
        if (rejections > 0 && now - lastNanos > FORGOTTEN_AFTER.toNanos()) {
            rejections = 0;
        }
        lastNanos = now;
        long pause =
                Math.min(LONGEST_PAUSE.toMillis(), FIRST_PAUSE.toMillis() << Math.min(rejections++, MAX_DOUBLINGS));
        session.schedule(
                session::connectAgain,
                Duration.ofMillis(pause / 2 + ThreadLocalRandom.current().nextLong(pause / 2 + 1)));
    }

    /**
     * Called when a new connection is open. ZooKeeper may reject the user again afterwards.
     *
     * @return whether the user was rejected on the previous connection
     */
    boolean ended() {
        boolean wasDenied = isDenied;
        isDenied = false;
        return wasDenied;
    }

    /** Returns why there is no connection; empty if the user is not rejected. */
    String why() {
        return isDenied ? OperationFailures.denied(session.settings()) : "";
    }
}
