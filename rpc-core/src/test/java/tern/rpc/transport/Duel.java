package tern.rpc.transport;

import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Runs two actions on two threads at the same moment, many times. The first action runs on the caller's thread. The
 * threads synchronize by spinning, because parked threads would resume at different moments. Each thread waits for a
 * varying time before its action, so that either action can come first.
 */
public final class Duel {

    /** A single race. */
    public interface Round {

        /** Runs on the caller's thread, concurrently with {@link #second}. */
        void first();

        /** Runs on the second thread, concurrently with {@link #first}. */
        void second();

        /** Called on the caller's thread after both actions have ended. */
        void over();
    }

    /** Creates the next race. Runs on the thread that starts the duel. */
    @FunctionalInterface
    public interface Rounds {
        Round next(int number);
    }

    private static final int MAX_HEAD_START = 30;
    private static final int SPINS_BEFORE_YIELD = 1_000;
    private static final int STOP = -1;

    private final AtomicInteger begun = new AtomicInteger();
    private final AtomicInteger arrived = new AtomicInteger();
    private final AtomicInteger done = new AtomicInteger();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private volatile @Nullable Round round;

    private Duel() {}

    /** Returns the number of races: the given number multiplied by the system property {@code tern.races}. */
    public static int rounds(int everyBuild) {
        return Math.multiplyExact(everyBuild, Integer.getInteger("tern.races", 1));
    }

    /**
     * @throws AssertionError if an action of a race fails an assertion; the error message contains the number of the
     *     race. Other exceptions of actions are thrown unchanged
     */
    public static void fight(int rounds, Rounds made) {
        Duel duel = new Duel();
        Thread other = new Thread(duel::secondThread, "duel");
        other.setDaemon(true);
        other.start();
        try {
            duel.firstThread(rounds, made);
        } finally {
            duel.begun.set(STOP);
        }
    }

    private void firstThread(int rounds, Rounds made) {
        SplittableRandom random = new SplittableRandom(1);
        for (int number = 1; number <= rounds; number++) {
            Round next = made.next(number);
            round = next;
            begun.set(number);
            await(arrived, number);
            spin(random.nextInt(MAX_HEAD_START));
            try {
                next.first();
                await(done, number);
                next.over();
            } catch (Throwable e) {
                throw new AssertionError("round " + number, e);
            }
        }
    }

    private void secondThread() {
        SplittableRandom random = new SplittableRandom(2);
        for (int number = 1; await(begun, number); number++) {
            arrived.set(number);
            spin(random.nextInt(MAX_HEAD_START));
            try {
                Round current = round;
                if (current != null) {
                    current.second();
                }
            } catch (Throwable e) {
                failure.set(e);
            }
            done.set(number);
        }
    }

    /** @return false if the last race is over */
    private boolean await(AtomicInteger count, int number) {
        int spins = 0;
        int seen;
        while ((seen = count.get()) < number) {
            if (seen == STOP) {
                return false;
            }
            Throwable failed = failure.get();
            if (failed != null && count != begun) {
                throw new AssertionError("the second thread failed", failed);
            }
            if (++spins < SPINS_BEFORE_YIELD) {
                Thread.onSpinWait();
            } else {
                Thread.yield();
            }
        }
        return true;
    }

    private static void spin(int times) {
        for (int i = 0; i < times; i++) {
            Thread.onSpinWait();
        }
    }
}
