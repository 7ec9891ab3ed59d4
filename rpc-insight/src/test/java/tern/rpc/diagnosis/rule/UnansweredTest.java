package tern.rpc.diagnosis.rule;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import tern.rpc.AsyncOperation;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.diagnosis.Diagnosis;
import tern.rpc.diagnosis.Shop;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.excess.ExcessTime;

/** Tests calls that end while their asynchronous operations are still running. */
class UnansweredTest {

    private static final String PEER = "GET stock:8080/levels";
    private static final Consumer<Shop.Steps> USUAL = call -> {
        AsyncOperation exchange = call.ledger.begin(Phase.HTTP, () -> PEER);
        call.own(1).in(Phase.UNATTRIBUTED, null, 8);
        exchange.end();
    };

    private final Shop shop = new Shop();

    private Cause firstOf(Consumer<Shop.Steps> late) {
        Diagnosis miss = shop.healthy(USUAL).miss(late);
        assertThat(miss.state()).isEqualTo(Diagnosis.State.MISS);
        return miss.causes().get(0);
    }

    @Test
    void peerThatDoesNotAnswerBeforeTheCallGivesUpIsNamed() {
        Cause first = firstOf(call -> {
            call.ledger.begin(Phase.HTTP, () -> PEER);
            call.own(1).in(Phase.UNATTRIBUTED, null, 400);
        });

        assertThat(first.kind() + ": " + first.name()).isEqualTo("SLOW HTTP PEER: " + PEER);
    }

    @Test
    void exchangeForWhichNoThreadWaitsIsNotTheCause() {
        Cause first = firstOf(call -> {
            call.ledger.begin(Phase.HTTP, () -> PEER);
            call.own(1).in(Phase.SQL, "select stock", 400);
        });

        assertThat(first.name()).isEqualTo("select stock");
    }

    @Test
    void exchangeThatRunsForAShortPartOfTheWaitIsNotTheCause() {
        Cause first = firstOf(call -> {
            call.own(1).in(Phase.UNATTRIBUTED, null, 300);
            call.ledger.begin(Phase.HTTP, () -> PEER);
            call.in(Phase.UNATTRIBUTED, null, 10);
        });

        assertThat(first.kind()).isEqualTo("OTHER THREADS");
    }

    @Test
    void threadStillWaitsForTheTaskThatHadNotStartedAtTheDeadline() {
        Part wait = new Part(Part.Kind.RESULT, "Orders.place");
        CallLedger ledger = new CallLedger(shop::now);
        ledger.begin(Phase.EXECUTOR, () -> "mail");
        shop.pass(3_000);
        ledger.end();
        shop.pass(15_000);
        Times times = new Times();
        times.add(wait, 18_000e6);
        EndedCall call = new EndedCall(Shop.PLACE, ledger, shop.now(), 18_000_000_000L, null, true, null);

        Part awaited = Unanswered.of(wait, List.of(new ExcessTime.Counted(call, times)), executor -> true);

        assertThat(awaited).isEqualTo(new Part(Part.Kind.POOL, "mail"));
    }
}
