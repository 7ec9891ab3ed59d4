package tern.rpc.serialization;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;

class LargeMessagesTest {

    private final int free = LargeMessages.readableKib();

    @Test
    void smallRequestNeedsNoPermit() {
        assertThat(LargeMessages.startReading(LargeMessages.LARGE_BYTES)).isZero();
        assertThat(LargeMessages.readableKib()).isEqualTo(free);
    }

    @Test
    void largeRequestTakesPermitsForItsSizeUntilItIsDecoded() {
        int permits = LargeMessages.startReading(1 << 20);

        assertThat(LargeMessages.readableKib()).isEqualTo(free - 1024);
        LargeMessages.endReading(permits);
        assertThat(LargeMessages.readableKib()).isEqualTo(free);
    }

    @Test
    void requestThatIsLargerThanAllPermitsIsDecodedAlone() {
        int all = LargeMessages.startReading(Integer.MAX_VALUE);

        assertThat(all).isEqualTo(free);
        assertThat(LargeMessages.readableKib()).isZero();
        Thread.currentThread().interrupt(); // so that the next request does not wait
        assertThatThrownBy(() -> LargeMessages.startReading(1 << 20))
                .isInstanceOfSatisfying(RpcException.class, refusal -> {
                    assertThat(refusal.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
                    assertThat(refusal.wasExecuted()).isEqualTo(Executed.NO);
                })
                .hasMessageContaining("a request of 1048576 bytes was not decoded: at most " + free + " KiB");
        assertThat(Thread.interrupted()).isTrue();
        LargeMessages.endReading(all);
        assertThat(LargeMessages.readableKib()).isEqualTo(free);
    }
}
