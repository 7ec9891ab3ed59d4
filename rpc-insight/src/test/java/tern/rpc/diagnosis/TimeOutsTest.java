package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.first;

import java.net.http.HttpTimeoutException;
import java.sql.SQLTimeoutException;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import shop.Tickets;
import tern.rpc.Phase;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;

/** Tests timeouts that end calls within the latency target. */
class TimeOutsTest {

    private static final Consumer<Shop.Steps> USUAL =
            call -> call.own(2).in(Phase.SQL, "select stock", 30).in(Phase.HTTP, "GET stock:80", 40);

    private final Shop shop = new Shop().healthy(USUAL);

    private Diagnosis failing(Throwable failure, Consumer<Shop.Steps> calls) {
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (int call = 0; call < 20; call++) {
                    shop.call(Shop.PLACE, 0, failure, calls);
                    shop.call(Shop.PLACE, 0, USUAL);
                }
            });
        }
        return shop.diagnosis();
    }

    @Test
    void timeoutBelowTheUsualTimeIsTooShort() {
        Diagnosis miss = failing(
                new HttpTimeoutException("request timed out"),
                call -> call.own(2).in(Phase.SQL, "select stock", 3).in(Phase.HTTP, "GET stock:80", 20));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("TIMEOUT TOO SHORT: GET stock:80");
        assertThat(first(miss).change().text())
                .isEqualTo("a longer timeout for GET stock:80: it ends after 20 ms and usually takes 40 ms");
        assertThat(miss.text()).contains("recorded calls failed because of a timeout");
    }

    @Test
    void timeoutOfAStatementIsNamedWithTheStatement() {
        Diagnosis miss =
                failing(new SQLTimeoutException("canceled"), call -> call.own(2).in(Phase.SQL, "select stock", 10));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("TIMEOUT TOO SHORT: select stock");
    }

    @Test
    void peerThatIsSlowerThanUsualIsTheCauseOfItsTimeouts() {
        Diagnosis miss = failing(
                new HttpTimeoutException("request timed out"),
                call -> call.own(2).in(Phase.SQL, "select stock", 3).in(Phase.HTTP, "GET stock:80", 80));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW HTTP PEER: GET stock:80");
        assertThat(first(miss).change().text())
                .contains("a longer response timeout")
                .doesNotContain("shorter");
    }

    @Test
    void deadlineOfTheCallerIsTooShort() {
        Diagnosis miss = failing(
                new RpcException(StatusCode.DEADLINE_EXCEEDED, "late"),
                call -> call.own(2).in(Phase.SQL, "select stock", 28));

        assertThat(DiagnosisText.title(first(miss)))
                .as(miss.text())
                .isEqualTo("TIMEOUT TOO SHORT: deadline of the caller");
        assertThat(first(miss).change().text()).contains("calls end after 30 ms, and usually take 72 ms");
        assertThat(first(miss).change().where()).isEqualTo(Cause.Where.PEER);
    }

    @Test
    void statementThatExceedsTheDeadlineOfTheCallerIsTheCause() {
        Shop quick = new Shop().healthy(call -> call.own(2).in(Phase.SQL, "select stock", 3));
        for (int i = 0; i < 6; i++) {
            quick.second(() -> {
                for (int call = 0; call < 40; call++) {
                    quick.call(
                            Shop.PLACE,
                            0,
                            new RpcException(StatusCode.DEADLINE_EXCEEDED, "late"),
                            steps -> steps.own(2).in(Phase.SQL, "select stock", 80));
                }
            });
        }

        assertThat(DiagnosisText.title(first(quick.diagnosis()))).isEqualTo("SLOW STATEMENT: select stock");
    }

    @Test
    void codeThatGivesUpIsNamedWithItsPlace() {
        Diagnosis miss = failing(Tickets.gaveUp(), call -> call.own(40));

        assertThat(DiagnosisText.title(first(miss)))
                .as(miss.text())
                .startsWith("TIMEOUT TOO SHORT: TimeoutException in Tickets.gaveUp");
    }
}
