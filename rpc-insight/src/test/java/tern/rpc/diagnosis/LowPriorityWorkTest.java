package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.machine.Machine;

/** Tests processors that are always saturated, usually by threads of low priority, which delay no call. */
class LowPriorityWorkTest {

    private final Shop shop = new Shop();

    /** Returns two processors that are always saturated. */
    private static Machine full(double own, double lowPriority, List<Machine.Burner> burners) {
        return new Machine(
                2,
                own,
                2 - own,
                0,
                0,
                0.2,
                null,
                10e6,
                -1,
                -1,
                lowPriority,
                -1,
                burners,
                0,
                null,
                List.of(),
                new Machine.Stolen(-1, -1, -1),
                null,
                null,
                Machine.Delay.UNKNOWN,
                null);
    }

    private Diagnosis missWithFullProcessors(Machine during) {
        shop.machine = full(0.4, 1.4, List.of());
        shop.healthy(call -> call.own(2)
                .in(Phase.RPC, "Stock.left at 10.0.0.7:1", 5)
                .in(Phase.RPC, "Stock.take at 10.0.0.7:1", 5)
                .in(Phase.HTTP, "GET carrier:80", 3)
                .in(Phase.HTTP, "POST mail:80", 3));
        shop.machine = during;
        return shop.miss(call -> call.own(2)
                .in(Phase.RPC, "Stock.left at 10.0.0.7:1", 90)
                .in(Phase.RPC, "Stock.take at 10.0.0.7:1", 80)
                .in(Phase.HTTP, "GET carrier:80", 15)
                .in(Phase.HTTP, "POST mail:80", 16));
    }

    @Test
    void threadsThatDisplaceWorkOfLowPriorityMakeEverythingSlower() {
        Diagnosis miss = missWithFullProcessors(
                full(1.6, 0.2, List.of(new Machine.Burner("risk", 24, 1.2, 1e6, "Risk.train:114"))));

        assertThat(DiagnosisText.title(miss.causes().get(0))).as(miss.text()).startsWith("PROCESSORS: ");
        assertThat(miss.causes().get(0).change().text()).contains("Risk.train:114");
    }

    @Test
    void otherProcessesThatDisplaceWorkOfLowPriorityMakeEverythingSlower() {
        Diagnosis miss = missWithFullProcessors(full(0.3, 0.2, List.of()));

        assertThat(DiagnosisText.title(miss.causes().get(0))).as(miss.text()).isEqualTo("PROCESSORS: other processes");
    }

    @Test
    void workOfLowPriorityThatAlwaysFillsTheProcessorsIsNoCause() {
        Diagnosis miss = missWithFullProcessors(full(0.4, 1.4, List.of()));

        assertThat(DiagnosisText.title(miss.causes().get(0))).as(miss.text()).startsWith("PEER: ");
    }
}
