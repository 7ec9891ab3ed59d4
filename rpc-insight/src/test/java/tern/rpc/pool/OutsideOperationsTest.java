package tern.rpc.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.pool.OutsideOperations.Series;

class OutsideOperationsTest {

    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    private static final long UNKNOWN = -1; // stands for an execution whose duration is not measured

    private long now = 7 * SECOND;

    @AfterEach
    void forget() {
        OutsideOperations.clear();
    }

    private Series everySecond(int times) {
        OutsideOperations.ran(Phase.HTTP, "POST login:80/token");
        Series series = OutsideOperations.of(Phase.HTTP, "POST login:80/token");
        assertThat(series).isNotNull();
        now = System.nanoTime();
        for (int i = 0; i < times; i++) {
            now += SECOND;
            series.ran(now, UNKNOWN);
        }
        return series;
    }

    @Test
    void operationThatIsNotRepeatedInTimeIsLate() {
        Series series = everySecond(20);

        assertThat(series.tooLong(now + SECOND)).isNull();
        Series.Pause pause = series.tooLong(now + 10 * SECOND);
        assertThat(pause).isNotNull();
        assertThat(pause.lasts()).isTrue();
        assertThat(pause.nanos()).isEqualTo(10 * SECOND);
        assertThat(pause.usualNanos()).isCloseTo((double) SECOND, within(1e8));
        assertThat(pause.thread()).isSameAs(Thread.currentThread());
    }

    @Test
    void longPauseIsKnownForAWhileAfterItsEnd() {
        Series series = everySecond(20);
        now += 10 * SECOND;
        series.ran(now, UNKNOWN);

        Series.Pause pause = series.tooLong(now + SECOND);
        assertThat(pause).isNotNull();
        assertThat(pause.lasts()).isFalse();
        assertThat(pause.nanos()).isEqualTo(10 * SECOND);
        for (int i = 0; i < 40; i++) {
            now += SECOND;
            series.ran(now, UNKNOWN);
        }
        assertThat(series.tooLong(now)).isNull();
    }

    @Test
    void longPausesThatStayAreUsual() {
        Series series = everySecond(20);
        for (int i = 0; i < 60; i++) {
            now += 5 * SECOND;
            series.ran(now, UNKNOWN);
        }

        assertThat(series.tooLong(now + 6 * SECOND)).isNull();
    }

    @Test
    void executionThatIsReportedTwiceCountsOnce() {
        Series series = everySecond(20);
        series.ran(now + 1_000, UNKNOWN);

        Series.Pause pause = series.tooLong(now + 10 * SECOND);
        assertThat(pause).isNotNull();
        assertThat(pause.usualNanos()).isCloseTo((double) SECOND, within(1e8));
    }

    @Test
    void fewExecutionsShowNoUsualPause() {
        assertThat(everySecond(3).tooLong(now + 100 * SECOND)).isNull();
    }

    @Test
    void presentTimeFollowsTheLastExecutions() {
        for (int i = 0; i < 20; i++) {
            OutsideOperations.ran(Phase.HTTP, "POST sms:80", 12_000_000);
        }
        OutsideOperations.ran(Phase.HTTP, "POST fax:80");
        long end = System.nanoTime();

        assertThat(OutsideOperations.timed(end)).singleElement().satisfies(timed -> {
            assertThat(timed.key()).isEqualTo(Phase.HTTP + " POST sms:80");
            assertThat(timed.threadName()).isEqualTo(Thread.currentThread().getName());
            assertThat(timed.nanos()).isEqualTo(12e6);
        });
        OutsideOperations.ran(Phase.HTTP, "POST sms:80", 112_000_000);
        assertThat(OutsideOperations.timed(end).get(0).nanos()).isCloseTo(42e6, within(1e3));
        assertThat(OutsideOperations.timed(end + 20 * SECOND)).isEmpty();
    }

    @Test
    void operationThatRanLongestAgoGivesWayToANewOne() {
        for (int i = 0; i < 300; i++) {
            OutsideOperations.ran(Phase.REDIS, "GET key" + i);
        }

        assertThat(OutsideOperations.of(Phase.REDIS, "GET key0")).isNull();
        assertThat(OutsideOperations.of(Phase.REDIS, "GET key1")).isNotNull();
        assertThat(OutsideOperations.of(Phase.REDIS, "GET key256")).isNotNull();
        assertThat(OutsideOperations.of(Phase.REDIS, "GET key299")).isNull();
    }
}
