package tern.rpc.diagnosis.peer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.Diagnosis;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.Shop;
import tern.rpc.diagnosis.machine.Machine;

/** Tests that the diagnosis distinguishes busy processors from a single slow peer when remote calls take longer. */
class OneSlowPeerTest {

    private final Shop shop = new Shop().healthy(calls(2, 2));

    private static Consumer<Shop.Steps> calls(double stockMillis, double priceMillis) {
        return call -> call.own(2)
                .in(Phase.RPC, "StockService.find at stock-1:20880", stockMillis)
                .in(Phase.RPC, "StockService.count at stock-1:20880", stockMillis)
                .in(Phase.RPC, "ShelfService.list at stock-1:20880", stockMillis)
                .in(Phase.RPC, "ShelfService.ping at stock-1:20880", 1)
                .in(Phase.RPC, "PriceService.quote at price-1:20881", priceMillis)
                .in(Phase.RPC, "PriceService.list at price-1:20881", priceMillis);
    }

    @BeforeEach
    void otherProcessesKeepTheProcessorsBusy() {
        shop.machine = new Machine(2, 0.5, 1.5, 0, 0, 0.3, null, 1e6, 1e6, List.of(), 0, null, List.of());
    }

    private String firstCause(Consumer<Shop.Steps> calls) {
        Diagnosis miss = shop.miss(calls);
        return DiagnosisText.title(Shop.first(miss));
    }

    @Test
    void operationsOnOnePeerThatAreSlowAloneAreThePeers() {
        assertThat(firstCause(calls(400, 8))).isEqualTo("PEER: stock-1:20880");
    }

    @Test
    void operationsThatAreSlowOnAllPeersAreTheProcessors() {
        assertThat(firstCause(calls(400, 200))).isEqualTo("PROCESSORS: other processes");
    }

    @Test
    void methodThatIsSlowAloneIsTheMethod() {
        assertThat(firstCause(call -> calls(2, 2)
                        .andThen(steps -> steps.in(Phase.RPC, "StockService.find at stock-1:20880", 900))
                        .accept(call)))
                .isEqualTo("PEER: StockService.find at stock-1:20880");
    }
}
