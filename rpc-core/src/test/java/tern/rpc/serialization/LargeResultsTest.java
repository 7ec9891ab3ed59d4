package tern.rpc.serialization;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;

class LargeResultsTest {

    private final int free = LargeResults.freeKib();

    @Test
    void resultTakesItsMemoryUntilItIsQueued() {
        int permits = LargeResults.start(1_000, "a", Long.MAX_VALUE, "Shop/list");

        assertThat(LargeResults.freeKib()).isEqualTo(free - 1_000);
        LargeResults.end(permits);
        assertThat(LargeResults.freeKib()).isEqualTo(free);
    }

    @Test
    void resultThatIsLargerThanTheMemoryIsCreatedAlone() {
        int all = LargeResults.start(Long.MAX_VALUE, "a", Long.MAX_VALUE, "Shop/list");

        assertThat(LargeResults.freeKib()).isZero();
        assertThatThrownBy(() -> LargeResults.start(30 << 10, "b", 0, "Shop/page"))
                .isInstanceOfSatisfying(RpcException.class, refusal -> {
                    assertThat(refusal.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
                    assertThat(refusal.wasExecuted()).isEqualTo(Executed.NO);
                })
                .hasMessageContaining("a result of Shop/page is expected to take 30 MiB, the results of all calls may"
                        + " take " + (free >> 10) + " MiB (a quarter of the heap)");
        LargeResults.end(all);
        assertThat(LargeResults.freeKib()).isEqualTo(free);
    }
}
