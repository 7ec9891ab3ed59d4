package tern.rpc.diagnosis.account;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.evidence.RunTime;

/**
 * Tests how samples divide the time that calls spend outside of operations between computing and waits for a processor.
 */
class SharesTest {

    private static final Part REGEX = new Part(Kind.COMPUTING, "Label.of");
    private static final Part WAIT = Part.of(Kind.RUN_QUEUE);
    private static final Offset<Double> ROUNDING = Offset.offset(1e-9);

    // In this process, threads usually run for a short time and then wait for a processor much longer.
    private static final double MOSTLY_WAITING = 0.94;

    private static Sample running(long atMillis, long cpuMillis, long delayMillis) {
        List<StackTraceElement> path = List.of(new StackTraceElement("desk.Label", "of", "Label.java", 18));
        return new Sample(
                TimeUnit.MILLISECONDS.toNanos(atMillis),
                Phase.OWN,
                REGEX,
                path,
                null,
                null,
                null,
                false,
                null,
                TimeUnit.MILLISECONDS.toNanos(cpuMillis),
                TimeUnit.MILLISECONDS.toNanos(delayMillis));
    }

    private static double share(Shares shares, Part part) {
        return shares.own().of(part) / shares.own().sum();
    }

    @Test
    void firstSampleOfACallIsDividedLikeTheMeasuredSamplesOfTheSameCode() {
        Shares shares = new Shares(MOSTLY_WAITING);
        shares.add(List.of(running(0, 10, 0), running(100, 90, 20)));
        shares.add(List.of(running(200, 300, 0)));

        assertThat(share(shares, REGEX)).isEqualTo(0.8, ROUNDING);
        assertThat(share(shares, WAIT)).isEqualTo(0.2, ROUNDING);
    }

    @Test
    void meanOfTheProcessDividesCodeWithoutMeasuredSamples() {
        Shares shares = new Shares(MOSTLY_WAITING);
        shares.add(List.of(running(0, 10, 0)));

        assertThat(share(shares, WAIT)).isEqualTo(MOSTLY_WAITING, ROUNDING);
    }

    @Test
    void measuredWaitsForAProcessorStayWaits() {
        Shares shares = new Shares(0);
        shares.add(List.of(running(0, 10, 0), running(100, 20, 90)));

        assertThat(share(shares, WAIT)).isEqualTo(0.9, ROUNDING);
    }

    @Test
    void firstSampleAfterAShortRunIsDividedLikeTheLaterSamplesOfTheSameCode() {
        Part query = new Part(Kind.SQL, "");
        Sample operation = new Sample(0, Phase.SQL, query, List.of(), null, null, null, false, null, 0, 0);
        Shares shares = new Shares(0);
        shares.add(List.of(operation, running(100, 1, 9), running(200, 91, 19)));

        assertThat(share(shares, REGEX)).isEqualTo(0.9, ROUNDING);
        assertThat(share(shares, WAIT)).isEqualTo(0.1, ROUNDING);
    }

    @Test
    void waitThatTheKernelCountsLateIsNoNativeCode() {
        Shares shares = new Shares(0);
        shares.add(List.of(running(0, 0, 0), running(100, 40, 0), running(200, 60, 140)));

        assertThat(share(shares, REGEX)).isEqualTo(0.3, ROUNDING);
        assertThat(share(shares, WAIT)).isEqualTo(0.7, ROUNDING);
        assertThat(share(shares, new Part(Kind.NATIVE, REGEX.name()))).isZero();
    }

    @Test
    void runTimeShortlyAfterTheOnlySampleDividesItsCode() {
        Shares shares = new Shares(MOSTLY_WAITING);
        shares.add(List.of(running(0, 10, 0)));
        shares.addUse(REGEX, new RunTime(18_000_000, 6_000_000, 5));
        shares.addUse(REGEX, RunTime.UNKNOWN);

        assertThat(share(shares, REGEX)).isEqualTo(0.75, ROUNDING);
        assertThat(shares.isMeasured(REGEX)).isTrue();
    }
}
