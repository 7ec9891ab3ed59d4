package tern.rpc.diagnosis.remedy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import tern.rpc.diagnosis.account.CallTrace;
import tern.rpc.diagnosis.cause.QueueModel;

class ReplayModelTest {

    private static final double MILLI = 1e6;

    /** Returns calls that arrive at random times and use one connection each for a random time. */
    private static List<CallTrace.Call> random(double perSecond, double useMillis, int count) {
        Random random = new Random(7);
        List<CallTrace.Call> calls = new ArrayList<>();
        double at = 0;
        for (int i = 0; i < count; i++) {
            at += -Math.log(1 - random.nextDouble()) / perSecond * 1e9;
            long use = (long) (-Math.log(1 - random.nextDouble()) * useMillis * MILLI);
            calls.add(new CallTrace.Call((long) at, use, 0, new long[3], new int[] {1, 0, 0}));
        }
        return calls;
    }

    /**
     * A call holds a worker while it uses a connection. The calls therefore queue only for workers, as in Erlang's
     * formula.
     */
    @Test
    void waitsForWorkersAreThoseOfErlangsFormula() {
        for (int workers : new int[] {5, 8, 20}) {
            double perSecond = 0.8 * workers / 0.04;
            List<CallTrace.Call> calls = random(perSecond, 40, 60_000);
            ReplayModel model = new ReplayModel(calls, 1, 0, -1, false);

            double wait = model.replay(workers, ReplayModel.UNLIMITED).meanNanos()
                    - model.replay(ReplayModel.UNLIMITED, ReplayModel.UNLIMITED).meanNanos();

            double busy = 0.8 * workers;
            double formula = QueueModel.waitProbability(busy, workers) * 40 * MILLI / (workers - busy);
            assertThat(wait).as("%d workers", workers).isBetween(0.85 * formula, 1.15 * formula);
        }
    }

    @Test
    void probabilityToWaitIsThatOfTheTables() {
        assertThat(QueueModel.waitProbability(4, 5)).isCloseTo(0.5541, within(1e-4));
        assertThat(QueueModel.waitProbability(8, 10)).isCloseTo(0.4092, within(1e-4));
        assertThat(QueueModel.waitProbability(1, 2)).isCloseTo(1 / 3.0, within(1e-9));
    }

    @Test
    void moreConnectionsShortenTheWaitAndManyEndIt() {
        List<CallTrace.Call> calls = new ArrayList<>();
        for (int i = 0; i < 400; i++) {
            calls.add(new CallTrace.Call(
                    (long) (i * 10 * MILLI), (long) (50 * MILLI), 0, new long[3], new int[] {1, 0, 0}));
        }
        ReplayModel model = new ReplayModel(calls, 0, 50 * MILLI, -1, false);

        double four = model.replay(ReplayModel.UNLIMITED, 4).p99Nanos();
        double five = model.replay(ReplayModel.UNLIMITED, 5).p99Nanos();

        assertThat(four).isGreaterThan(500 * MILLI);
        assertThat(five).isEqualTo(50 * MILLI);
    }

    @Test
    void callThatGetsNoConnectionInTimeFails() {
        List<CallTrace.Call> calls = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            calls.add(new CallTrace.Call(0, (long) (50 * MILLI), 0, new long[3], new int[] {1, 0, 0}));
        }

        ReplayModel.Outcome outcome =
                new ReplayModel(calls, 0, 50 * MILLI, (long) (100 * MILLI), false).replay(ReplayModel.UNLIMITED, 10);

        assertThat(outcome.failed()).isEqualTo(0.7);
        assertThat(outcome.p99Nanos()).isEqualTo(150 * MILLI);
    }

    @Test
    void modelIsSilentIfItMissesTheMeasuredTime() {
        List<CallTrace.Call> calls = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            calls.add(new CallTrace.Call(
                    (long) (i * 100 * MILLI),
                    (long) (300 * MILLI),
                    0,
                    // No queue in the model could make a call wait 250 ms for a connection.
                    new long[] {(long) (250 * MILLI), 0, 0},
                    new int[] {1, 0, 0}));
        }

        assertThat(new ReplayModel(calls, 0, 50 * MILLI, -1, false).isReliable(200, 20))
                .isFalse();
    }
}
