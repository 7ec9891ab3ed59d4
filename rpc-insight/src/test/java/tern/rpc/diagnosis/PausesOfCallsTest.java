package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.USUAL;
import static tern.rpc.diagnosis.Shop.first;

import java.util.List;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.machine.Machine;

class PausesOfCallsTest {

    private final Shop shop = new Shop();

    @Test
    void operationWhoseTimeVariesIsNotBlamedForPausesOfTheCollector() {
        for (int i = 0; i < 90; i++) {
            int round = i;
            shop.second(() -> {
                for (int call = 0; call < 100; call++) {
                    double took = (call + round) % 5 == 0 ? 90 : 40;
                    shop.call(Shop.PLACE, 0, steps -> steps.own(2).in(Phase.HTTP, "GET carrier:80", took));
                }
            });
        }
        assertThat(shop.diagnosis().state()).isEqualTo(Diagnosis.State.HEALTHY);
        shop.pauses = (from, to) -> {
            Times stood = new Times();
            stood.add(Part.of(Part.Kind.COLLECTOR), 15e6);
            return stood;
        };
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (int call = 0; call < 100; call++) {
                    double took = call % 5 == 0 ? 90 : 40;
                    shop.call(Shop.PLACE, 0, steps -> steps.own(17).in(Phase.HTTP, "GET carrier:80", took));
                }
            });
        }

        assertThat(first(shop.diagnosis()).kind()).startsWith("COLLECTOR");
    }

    @Test
    void pausesOfTheCollectorAreTakenOutOfOperations() {
        shop.healthy(USUAL);
        shop.pauses = (from, to) -> {
            Times times = new Times();
            times.add(Part.of(Part.Kind.COLLECTOR), (to - from) * 0.9);
            return times;
        };
        shop.machine = new Machine(2, 1, 0, 0, 0.9, 0.97, null, 310e6, 100e6, List.of(), -1, null, List.of());
        Diagnosis miss = shop.miss(call -> call.own(20).in(Phase.REDIS, "GET user:*", 200));

        assertThat(first(miss).kind()).isEqualTo("COLLECTOR: heap nearly full");
        assertThat(first(miss).ms()).isGreaterThan(150);
    }

    @Test
    void pausesFromOutsideBelongToTheProcessesThatKeepTheProcessorsBusy() {
        shop.healthy(USUAL);
        shop.pauses = (from, to) -> {
            Times times = new Times();
            times.add(Part.of(Part.Kind.OUTSIDE), (to - from) * 0.8);
            return times;
        };
        shop.machine = new Machine(2, 0.1, 1.9, 0, 0, 0.2, null, 10e6, 10e6, List.of(), -1, null, List.of());

        Diagnosis miss = shop.miss(call -> call.own(20).in(Phase.REDIS, "GET user:*", 200));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("PROCESSORS: other processes");
    }
}
