package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.first;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.cause.Cause;

/** Tests calls that roll back a transaction and retry it. */
class RepeatedTransactionsTest {

    private static final String CHANGE = "update branch set lent=?,version=? where id=? and version=?";

    private final Shop shop = new Shop();

    /** Runs a transaction of several statements, which ends with the given statement. */
    private static void attempt(Shop.Steps call, @Nullable String end) {
        for (int i = 0; i < 6; i++) {
            call.in(Phase.SQL, "select copy", 4);
        }
        call.in(Phase.SQL, CHANGE, 4).in(Phase.SQL, end, 0.05);
    }

    private static Consumer<Shop.Steps> rolledBack(int times) {
        return call -> {
            call.own(2);
            for (int i = 0; i < times; i++) {
                attempt(call, "rollback");
            }
            attempt(call, "commit");
        };
    }

    @Test
    void transactionsThatConflictWithOthersAreRepeated() {
        shop.healthy(rolledBack(0));

        Cause first = first(shop.miss(rolledBack(4)));

        assertThat(first.kind()).isEqualTo("REPEATED TRANSACTIONS");
        assertThat(first.change().text())
                .contains("5.0 attempts per call in ")
                .contains("optimistic locking")
                .contains(CHANGE);
        assertThat(first.ms()).isGreaterThan(100);
    }

    @Test
    void exceptionOfTheLastAttemptIsNamed() {
        shop.healthy(rolledBack(0));
        for (int second = 0; second < 6; second++) {
            shop.second(() -> {
                for (int i = 0; i < 100; i++) {
                    shop.call(Shop.PLACE, 0, i % 3 == 0 ? new DuplicateKeyException() : null, call -> {
                        attempt(call, "rollback");
                        rolledBack(3).accept(call);
                    });
                }
            });
        }

        Cause first = first(shop.diagnosis());

        assertThat(DiagnosisText.title(first)).startsWith("REPEATED TRANSACTIONS: DuplicateKeyException");
        assertThat(first.change().text()).contains("insert the same row at the same time");
    }

    private static final class DuplicateKeyException extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    @Test
    void rollbackOfATransactionThatIsNotRepeatedIsNoRepetition() {
        Consumer<Shop.Steps> usual = call -> attempt(call.own(2), "commit");
        shop.healthy(usual);

        Cause first = first(shop.miss(call -> attempt(call.own(150), "rollback")));

        assertThat(first.kind()).isNotEqualTo("REPEATED TRANSACTIONS");
    }

    @Test
    void slowRollbackIsNoRepetition() {
        shop.healthy(rolledBack(0));

        Cause first =
                first(shop.miss(call -> call.own(2).in(Phase.SQL, CHANGE, 4).in(Phase.SQL, "rollback", 300)));

        assertThat(first.kind()).isNotEqualTo("REPEATED TRANSACTIONS");
        assertThat(first.change().text()).contains("rollback");
    }

    @Test
    void slowStatementIsTheCauseOfTheRepetitionsThatFollow() {
        shop.healthy(rolledBack(0));

        Cause first = first(shop.miss(call -> {
            call.own(2);
            for (int i = 0; i < 2; i++) {
                call.in(Phase.SQL, "select copy", 4)
                        .in(Phase.SQL, CHANGE, 300)
                        .in(Phase.SQL, i == 0 ? "rollback" : "commit", 0.05);
            }
            for (int i = 0; i < 9; i++) {
                call.in(Phase.SQL, "select copy", 4);
            }
        }));

        assertThat(first.kind()).isNotEqualTo("REPEATED TRANSACTIONS");
    }

    @Test
    void callsThatUsuallyRollBackAsOftenDoNotRepeatTransactions() {
        shop.healthy(rolledBack(2));

        Cause first = first(shop.miss(call -> rolledBack(2).accept(call.own(200))));

        assertThat(first.kind()).isNotEqualTo("REPEATED TRANSACTIONS");
    }
}
