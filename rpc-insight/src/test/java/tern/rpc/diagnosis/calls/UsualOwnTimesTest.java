package tern.rpc.diagnosis.calls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.sample.SampledCall;

class UsualOwnTimesTest {

    private static final String METHOD = "Desk.admit";
    private static final Part WAIT = new Part(Part.Kind.RESULT, "Confirmations.await");
    private static final Part SLEEP = new Part(Part.Kind.SLEEP, "Patience.pause");
    private static final double USUAL_NANOS = 20e6;

    private final AtomicLong time = new AtomicLong();
    private final Map<CallLedger, SampledCall> samples = new HashMap<>();

    /** Creates an ended call of the given length, with the given number of samples. All samples show a wait. */
    private CallLedger call(double millis, int looks) {
        CallLedger ledger = CallLedger.ofReceived(time::get, time.get(), 0);
        ledger.turnTo(Phase.OWN);
        time.addAndGet((long) (millis * 1e6));
        ledger.end();
        SampledCall found = new SampledCall(METHOD);
        for (int i = 0; i < looks; i++) {
            found.add(new Sample(0, Phase.OWN, WAIT, List.of(), null, null, null, false, null, -1, -1));
        }
        samples.put(ledger, found);
        return ledger;
    }

    /**
     * Returns by how much late calls that wait for 30 ms and sleep for 170 ms exceed their usual time, by activity or
     * wait.
     */
    private Times above(List<EndedCall> late) {
        Times mean = new Times();
        mean.add(WAIT, 30e6);
        mean.add(SLEEP, 170e6);
        mean.add(new Part(Part.Kind.SQL, "select stock"), 5e6);
        return UsualOwnTimes.of(late, samples, 100_000_000).above(METHOD, mean, USUAL_NANOS);
    }

    @Test
    void waitOfPunctualCallsIsNotExtraTime() {
        for (int i = 0; i < 8; i++) {
            call(20, 1);
        }

        Times above = above(List.of());

        assertThat(above.of(WAIT)).isCloseTo(10e6, within(1.0));
        assertThat(above.of(SLEEP)).isCloseTo(170e6, within(1.0));
        assertThat(above.sum()).isCloseTo(180e6, within(1.0));
    }

    @Test
    void extraTimeIsDividedInProportionIfTooFewPunctualCallsWereSeen() {
        call(20, 7);

        Times above = above(List.of());

        assertThat(above.of(WAIT)).isCloseTo(27e6, within(1.0));
        assertThat(above.of(SLEEP)).isCloseTo(153e6, within(1.0));
    }

    @Test
    void samplesOfLateCallsDoNotShowHowTheUsualTimePasses() {
        call(150, 8);
        CallLedger failed = call(20, 8);

        Times above =
                above(List.of(new EndedCall(METHOD, failed, time.get(), 20_000_000, new IllegalStateException())));

        assertThat(above.of(WAIT)).isCloseTo(27e6, within(1.0));
    }

    @Test
    void callsThatTakeLessTimeThanUsualHaveNoExtraTime() {
        Times mean = new Times();
        mean.add(WAIT, 15e6);

        assertThat(UsualOwnTimes.of(List.of(), samples, 100_000_000)
                        .above(METHOD, mean, USUAL_NANOS)
                        .isEmpty())
                .isTrue();
    }
}
