package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.first;

import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.pool.OutsideOperations;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/** Tests blocking commands of Redis that threads outside of calls run. */
class BlockingCommandsTest {

    private final Shop shop = new Shop();

    @AfterEach
    void forget() {
        OutsideOperations.clear();
    }

    private static Consumer<Shop.Steps> commands(double millis) {
        return call -> call.in(Phase.REDIS, "GET user:*", millis).in(Phase.REDIS, "SET cart:*", millis + 1);
    }

    private Diagnosis slowCommands() {
        return shop.healthy(commands(1)).miss(commands(60));
    }

    @Test
    void commandThatStillRunsIsTheCauseOfSlowCommandsOnTheSharedConnection() {
        OutsideOperations.begins(Phase.REDIS, "BLPOP jobs");

        Cause cause = first(slowCommands());

        assertThat(DiagnosisText.title(cause)).isEqualTo("BLOCKING REDIS COMMAND: BLPOP jobs");
        assertThat(cause.change().text())
                .startsWith("use a separate connection for the blocking command BLPOP jobs, which thread "
                        + Thread.currentThread().getName() + " runs in");
    }

    @Test
    void commandThatRanAMomentAgoIsTheCause() {
        OutsideOperations.begins(Phase.REDIS, "XREADGROUP events");
        OutsideOperations.ran(Phase.REDIS, "XREADGROUP events");

        assertThat(DiagnosisText.title(first(slowCommands()))).isEqualTo("BLOCKING REDIS COMMAND: XREADGROUP events");
    }

    @Test
    void commandsThatDoNotBlockAreNoCause() {
        OutsideOperations.begins(Phase.REDIS, "GET jobs");

        assertThat(DiagnosisText.title(first(slowCommands()))).isEqualTo("SLOW REDIS: every command");
    }

    @Test
    void blockingCommandOnAConnectionOfAPoolIsNoCause() {
        OutsideOperations.begins(Phase.REDIS, "BLPOP jobs");
        shop.pools.add(() -> PoolSnapshot.builder("jedis", PoolKind.REDIS, 8)
                .now(2, 6, 0)
                .settings(List.of())
                .build());

        assertThat(DiagnosisText.title(first(slowCommands()))).isEqualTo("SLOW REDIS: every command");
    }
}
