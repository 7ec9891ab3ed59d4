package tern.rpc.transport;

import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Two threads that act at the same moment, again and again. They meet by spinning, since threads that are woken would
 * come one long after the other; what each waits before it acts differs from round to round, so that either may be
 * first. The caller's thread is one of the two.
 */
public final class Duel {

    /** One encounter. */
    public interface Round {

        /** On the caller's thread, at the same moment as {@link #second}. */
        void first();

        /** On the other thread. */
        void second();

        /** On the caller's thread when both are done. */
        void over();
    }

    /** Makes the next encounter, on the caller's thread. */
    @FunctionalInterface
    public interface Rounds {
        Round next(int number);
    }

    private static final int LONGEST_HEAD_START = 30;
    private static final int SPINS_BEFORE_YIELD = 1_000;
    private static final int STOP = -1;

    private final AtomicInteger begun = new AtomicInteger();
    private final AtomicInteger arrived = new AtomicInteger();
    private final AtomicInteger done = new AtomicInteger();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private volatile @Nullable Round round;

    private Duel() {}

    /** The number of races that every build makes, times the system property {@code tern.races}. */
    public static int rounds(int everyBuild) {
        return Math.multiplyExact(everyBuild, Integer.getInteger("tern.races", 1));
    }

    /** @throws AssertionError or what an action threw, when a round went wrong; it names its number */
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
            spin(random.nextInt(LONGEST_HEAD_START));
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
            spin(random.nextInt(LONGEST_HEAD_START));
            try {
                Round present = round;
                if (present != null) {
                    present.second();
                }
            } catch (Throwable e) {
                failure.set(e);
            }
            done.set(number);
        }
    }

    /** @return whether it came so far; false when the duel is over */
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
