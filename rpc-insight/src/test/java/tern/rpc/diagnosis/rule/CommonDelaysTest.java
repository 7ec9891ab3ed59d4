package tern.rpc.diagnosis.rule;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.first;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.Shop;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.machine.Machine;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/** Tests calls whose operations have all become a little slower. */
class CommonDelaysTest {

    private final Shop shop = new Shop();

    /** Returns a call of seven operations, each of which takes the given time longer than usual. */
    private static Consumer<Shop.Steps> slower(double millis) {
        return call -> call.own(8 + millis)
                .in(Phase.RPC, "Seats.hold at 10.0.0.7:1", 9 + millis)
                .in(Phase.RPC, "Seats.map at 10.0.0.7:1", 11 + 1.3 * millis)
                .in(Phase.RPC, "Seats.confirm at 10.0.0.7:1", 12 + 0.8 * millis)
                .in(Phase.RPC, "Prices.quote at 10.0.0.8:1", 8 + millis)
                .in(Phase.HTTP, "POST pay:80", 15 + 1.1 * millis)
                .in(Phase.HTTP, "POST mail:80", 10 + 0.9 * millis);
    }

    private static Machine processors(double own, double others) {
        return new Machine(2, own, others, 0, 0, 0.2, null, 10e6, -1, List.of(), 0, null, List.of());
    }

    private Cause miss(Machine machine, Consumer<Shop.Steps> slow) {
        shop.machine = machine;
        shop.healthy(slower(0));
        return first(shop.miss(slow));
    }

    @Test
    void noPeerIsTheCauseIfEachOperationTakesALittleLonger() {
        Cause first = miss(processors(0.4, 0.3), slower(7));

        assertThat(DiagnosisText.title(first)).isEqualTo("EVERYTHING SLOWER: 6 operations");
        assertThat(first.evidence()).anyMatch(line -> line.startsWith("slower   Seats.map at 10.0.0.7:1 20"));
        assertThat(shop.diagnosis().causes()).hasSize(1);
    }

    @Test
    void processorsThatAreAlwaysBusyAreTheCause() {
        assertThat(miss(processors(0.4, 1.5), slower(7)).kind()).isEqualTo("PROCESSORS");
    }

    @Test
    void codeThatAllocatesMuchMoreThanUsualDelaysAllOperations() {
        shop.machine = allocating(10e6);
        shop.healthy(slower(0));
        shop.machine = allocating(1200e6);
        shop.pauses = (from, to) -> {
            Times stood = new Times();
            stood.add(Part.of(Part.Kind.COLLECTOR), 11e6);
            return stood;
        };

        Cause first = first(shop.miss(slower(7)));

        assertThat(first.kind()).isEqualTo("COLLECTOR: more allocation");
        assertThat(shop.diagnosis().causes()).noneMatch(cause -> cause.kind().equals("EVERYTHING SLOWER"));
    }

    private static Machine allocating(double bytesPerSecond) {
        return new Machine(
                2,
                0.9,
                0.3,
                0,
                0.05,
                0.2,
                "G1 Humongous Allocation",
                bytesPerSecond,
                10e6,
                List.of(),
                0,
                null,
                List.of());
    }

    @Test
    void peerThatSlowsDownMuchMoreThanTheOthersIsTheCause() {
        Cause first = miss(
                processors(0.4, 0.3), call -> slower(2).accept(call.in(Phase.RPC, "Seats.hold at 10.0.0.7:1", 90)));

        assertThat(first.kind()).isEqualTo("PEER");
    }

    @Test
    void peerThatAloneIsSlowerIsTheCause() {
        Cause first = miss(
                processors(0.4, 0.3),
                call -> call.own(8)
                        .in(Phase.RPC, "Seats.hold at 10.0.0.7:1", 29)
                        .in(Phase.RPC, "Seats.map at 10.0.0.7:1", 32)
                        .in(Phase.RPC, "Seats.confirm at 10.0.0.7:1", 31)
                        .in(Phase.RPC, "Prices.quote at 10.0.0.8:1", 8)
                        .in(Phase.HTTP, "POST pay:80", 15)
                        .in(Phase.HTTP, "POST mail:80", 10));

        assertThat(first.kind()).isEqualTo("PEER");
    }

    @Test
    void littleDelaysDoNotExplainALongWaitForAPool() {
        long[] taken = {0};
        double[] heldMillis = {10};
        shop.pools.add(() -> PoolSnapshot.builder("hikari", PoolKind.JDBC, 4)
                .now(4, 0, 20)
                .counts(taken[0] += 20, 0)
                .sums(Duration.ZERO, Duration.ofMillis((long) (taken[0] * heldMillis[0])))
                .settings(List.of())
                .build());
        shop.machine = processors(0.4, 0.3);
        shop.healthy(slower(0));
        heldMillis[0] = 190;

        Cause first = first(shop.miss(call -> slower(2).accept(call.in(Phase.JDBC_CONNECTION, "hikari", 600))));

        assertThat(first.kind()).as(shop.diagnosis().text()).isNotIn("EVERYTHING SLOWER", "PROCESSORS");
    }
}
