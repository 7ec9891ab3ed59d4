package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tern.rpc.Phase;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;

/** Tests that one sick peer is one cause, although several of its operations have become slow. */
class OneSickPeerTest {

    private final Shop shop = new Shop();

    private static Consumer<Shop.Steps> calls(Phase phase, String one, String other, String third, double... millis) {
        return call -> call.own(2)
                .in(phase, one, millis[0])
                .in(phase, other, millis[1])
                .in(phase, third, millis[2]);
    }

    @ParameterizedTest
    @CsvSource({
        "HTTP, GET stock:80/items, GET stock:80/levels, GET stock:80/health, SLOW HTTP PEER: GET stock:80/items",
        "RPC, Stock.find at s:1, Stock.reserve at s:1, Stock.ping at s:1, PEER: Stock.find at s:1",
        "REDIS, GET user:*, HGETALL price:*, PING, SLOW REDIS: several commands"
    })
    void severalSlowOperationsOfOnePeerAreOneCauseThatNamesTheShareOfEach(
            Phase phase, String one, String other, String third, String title) {
        Diagnosis miss = shop.healthy(calls(phase, one, other, third, 3, 2, 1))
                .miss(calls(phase, one, other, third, 120, 70, 1));

        assertThat(miss.causes().stream().map(DiagnosisText::title))
                .as(miss.text())
                .containsExactly(title);
        assertThat(miss.causes().get(0).ms()).isBetween(180.0, 190.0);
        assertThat(miss.causes().get(0).symptoms()).anyMatch(line -> line.contains(other + ": 68 ms"));
    }

    @Test
    void slowOperationsOfTwoPeersAreTwoCauses() {
        Diagnosis miss = shop.healthy(
                        calls(Phase.HTTP, "GET stock:80/items", "GET rates:80/rates", "GET users:80/find", 3, 2, 1))
                .miss(calls(Phase.HTTP, "GET stock:80/items", "GET rates:80/rates", "GET users:80/find", 120, 90, 1));

        assertThat(miss.causes()).as(miss.text()).hasSize(2);
    }

    /** Serves calls that fail in turns with the given failures, after an exchange of the given time. */
    private Diagnosis failing(Throwable... failures) {
        shop.healthy(calls(Phase.RPC, "Stock.find at s:1", "Stock.reserve at s:1", "Price.of at p:1", 3, 2, 1));
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (int call = 0; call < 60; call++) {
                    Throwable failure = failures[call % failures.length];
                    String name = call % 2 == 0 ? "Stock.find at s:1" : "Stock.reserve at s:1";
                    shop.call(Shop.PLACE, 0, failure, steps -> steps.own(2).in(Phase.RPC, name, 150));
                }
            });
        }
        return shop.diagnosis();
    }

    private static RpcException refusal(StatusCode code) {
        return RpcException.refusal(code, "refused", RpcException.Executed.MAYBE);
    }

    @Test
    void providerThatFailsInSeveralWaysIsOneCause() {
        Diagnosis miss = failing(refusal(StatusCode.UNAVAILABLE), refusal(StatusCode.RESOURCE_EXHAUSTED));

        assertThat(miss.causes()).as(miss.text()).hasSize(1);
        assertThat(miss.causes().get(0).title()).startsWith("PEER FAILS: Stock").contains("at s:1");
    }
}
