package tern.rpc.diagnosis.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.first;

import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.diagnosis.Diagnosis;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.Shop;

/**
 * Tests a provider that stops answering: the first calls end at their timeout, later calls fail at once because no
 * connection is left.
 */
class SilentProvidersTest {

    private static final String QUOTE = "RateDesk.quote at 10.0.0.7:9303";
    private static final String CALENDAR = "RateDesk.calendar at 10.0.0.7:9303";
    private static final String AVAILABILITY = "BookingDesk.availability at 10.0.0.8:9201";
    private static final String UNAVAILABLE = " (failed UNAVAILABLE)";
    private static final String SEARCH = "web.GET /search";
    private static final RpcException LATE = new RpcException(
            StatusCode.DEADLINE_EXCEEDED, "RateDesk/quote timed out after 1500 ms (rpc.client.services.rates.timeout)");
    private static final RpcException NOT_CONNECTED =
            new RpcException(StatusCode.UNAVAILABLE, "RateDesk/quote was not sent: 10.0.0.7:9303 is not connected");

    private final Shop shop = new Shop();

    SilentProvidersTest() {
        for (int i = 0; i < 90; i++) {
            shop.second(() -> {
                for (int number = 0; number < 30; number++) {
                    shop.call(
                            SEARCH,
                            0,
                            call -> call.own(2).in(Phase.RPC, AVAILABILITY, 9).in(Phase.RPC, QUOTE, 8));
                    shop.call("web.GET /calendar", 0, call -> call.own(2).in(Phase.RPC, CALENDAR, 6));
                }
            });
        }
    }

    private Diagnosis frozen() {
        for (int i = 0; i < 6; i++) {
            int timedOut = i < 3 ? 10 : 1;
            shop.second(() -> {
                for (int number = 0; number < 30; number++) {
                    boolean isSent = number < timedOut;
                    shop.call(
                            SEARCH,
                            0,
                            isSent ? LATE : NOT_CONNECTED,
                            call -> call.own(2)
                                    .in(Phase.RPC, AVAILABILITY, 9)
                                    .in(Phase.RPC, isSent ? QUOTE : QUOTE + UNAVAILABLE, isSent ? 1_500 : 1));
                    shop.call(
                            "web.GET /calendar",
                            0,
                            isSent ? LATE : NOT_CONNECTED,
                            call -> call.own(2)
                                    .in(Phase.RPC, isSent ? CALENDAR : CALENDAR + UNAVAILABLE, isSent ? 1_500 : 1));
                }
            });
        }
        return shop.diagnosis();
    }

    @Test
    void providerDoesNotAnswerAlthoughLaterCallsFailAtOnce() {
        Diagnosis miss = frozen();

        assertThat(DiagnosisText.title(first(miss)))
                .as(miss.text())
                .isEqualTo("PEER FAILS: 10.0.0.7:9303: does not answer");
    }

    @Test
    void timeOutsAndRefusedCallsOfOneProviderAreOneCause() {
        Diagnosis miss = frozen();

        assertThat(miss.causes()).as(miss.text()).hasSize(1);
    }

    @Test
    void failureBelongsToTheCallThatFailedAndNotToALongerCallThatSucceeded() {
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (int number = 0; number < 30; number++) {
                    shop.call(
                            SEARCH,
                            0,
                            NOT_CONNECTED,
                            call -> call.own(2).in(Phase.RPC, AVAILABILITY, 9).in(Phase.RPC, QUOTE + UNAVAILABLE, 1));
                }
            });
        }
        Diagnosis miss = shop.diagnosis();

        assertThat(DiagnosisText.title(first(miss)))
                .as(miss.text())
                .isEqualTo("PEER FAILS: RateDesk at 10.0.0.7:9303: UNAVAILABLE");
    }

    @Test
    void timeOutBelongsToTheCallThatItsMessageNamesAndNotToALongerOne() {
        RpcException late = new RpcException(
                StatusCode.DEADLINE_EXCEEDED, "RateDesk/quote timed out after 3 ms (CallOptions.timeout)");
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (int number = 0; number < 30; number++) {
                    shop.call(
                            SEARCH,
                            0,
                            late,
                            call -> call.own(2).in(Phase.RPC, AVAILABILITY, 9).in(Phase.RPC, QUOTE, 3));
                }
            });
        }
        Diagnosis miss = shop.diagnosis();

        assertThat(miss.causes())
                .as(miss.text())
                .allSatisfy(cause -> assertThat(DiagnosisText.title(cause)).contains("RateDesk.quote"));
    }
}
