package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.first;

import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.cause.CauseDescription;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.failure.FailureText;
import tern.rpc.diagnosis.stack.ThreadSnapshot;
import tern.rpc.diagnosis.text.MachineText;

/** Tests the advice about delayed acknowledgements, repeated transactions and a full code cache. */
class UnpreparedFaultsTest {

    private final Shop shop = new Shop();

    private static Consumer<Shop.Steps> commands(double millis) {
        return call -> call.in(Phase.REDIS, "GET user:*", millis)
                .in(Phase.REDIS, "GET cart:*", millis + 0.5)
                .in(Phase.REDIS, "SET cart:*", millis + 1);
    }

    @Test
    void delayOfFortyMillisecondsPointsToDelayedAcknowledgements() {
        Diagnosis miss = shop.healthy(commands(1)).miss(commands(41));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW REDIS: every command");
        assertThat(first(miss).change().text()).contains("ping", "TCP_NODELAY");
    }

    @ParameterizedTest
    @CsvSource({"1, 60", "20, 60", "1, 36"})
    void otherDelaysDoNotPointToDelayedAcknowledgements(double usual, double now) {
        Diagnosis miss = shop.healthy(commands(usual)).miss(commands(now));

        assertThat(first(miss).change().text()).doesNotContain("TCP_NODELAY");
    }

    @Test
    void adviceForAPeerWithDelayedAcknowledgementsIsToSetTcpNodelay() {
        Diagnosis miss = shop.healthy(
                        call -> call.in(Phase.HTTP, "GET stock:80/a", 2).own(70))
                .miss(call -> call.in(Phase.HTTP, "GET stock:80/a", 42).own(70));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW HTTP PEER: GET stock:80/a");
        assertThat(first(miss).change().text()).contains("TCP_NODELAY");
    }

    @ParameterizedTest
    @CsvSource({
        "FAILURE: ObjectOptimisticLockingFailureException in Orders.save, two transactions change",
        "FAILURE: StaleObjectStateException in Orders.save, two transactions change"
    })
    void transactionThatLostIsRepeated(String failure, String change) {
        assertThat(FailureText.own(failure)).startsWith(change);
    }

    private static CauseDescription computing(double codeCache) {
        StackTraceElement[] stack = {new StackTraceElement("shop.Orders", "find", null, 41)};
        ThreadSnapshot thread = new ThreadSnapshot("worker-1", 7, Thread.State.RUNNABLE, stack, null, null, -1, -1);
        Evidence evidence = new SampledCalls()
                .calls(
                        "OrderService.place",
                        Phase.OWN,
                        300,
                        samples -> samples.add(SampledCalls.sample(Phase.OWN, thread)))
                .evidence();
        Part part = new Part(Part.Kind.COMPUTING, "Orders.find");
        return new MachineText(evidence, new ExcessTime(evidence), () -> codeCache).describe(part);
    }

    @Test
    void fullCodeCacheIsTheCauseOfInterpretedCode() {
        assertThat(computing(0.99).kind()).isEqualTo("CODE CACHE FULL");
        assertThat(computing(0.99).change().text()).startsWith("raise -XX:ReservedCodeCacheSize");
        assertThat(computing(0.9).kind()).isEqualTo("CODE COMPUTES");
    }
}
