package tern.rpc.serialization;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.Deque;
import org.junit.jupiter.api.Test;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;

class LargeMessagesTest {

    private final int free = LargeMessages.objectKib();

    @Test
    void smallRequestNeedsNoPermit() {
        assertThat(LargeMessages.startReading(1 << 10, "a")).isZero();
        assertThat(LargeMessages.objectKib()).isEqualTo(free);
    }

    @Test
    void objectsOfManySmallRequestsFitIntoAnEighthOfTheHeap() {
        int bytes = LargeMessages.uncheckedBytes(256L << 20);

        assertThat(bytes).isEqualTo(1_638);
        assertThat(256L * bytes * 80).isLessThanOrEqualTo((256L << 20) / 8);
        assertThat(LargeMessages.uncheckedBytes(16L << 20)).isEqualTo(1 << 10);
        assertThat(LargeMessages.uncheckedBytes(4L << 30)).isEqualTo(16 << 10);
    }

    @Test
    void largeRequestTakesPermitsForItsObjectsUntilItIsDecoded() {
        int permits = LargeMessages.startReading(1 << 20, "a");

        assertThat(LargeMessages.objectKib()).isEqualTo(free - 80 * 1024);
        LargeMessages.release(permits);
        assertThat(LargeMessages.objectKib()).isEqualTo(free);
    }

    @Test
    void requestThatIsLargerThanAllPermitsIsDecodedAlone() {
        int all = LargeMessages.startReading(Integer.MAX_VALUE, "a");

        assertThat(all).isEqualTo(free);
        assertThat(LargeMessages.objectKib()).isZero();
        Thread.currentThread().interrupt(); // An interrupted thread does not wait for free memory.
        assertThatThrownBy(() -> LargeMessages.startReading(1 << 20, "a"))
                .isInstanceOfSatisfying(RpcException.class, refusal -> {
                    assertThat(refusal.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
                    assertThat(refusal.wasExecuted()).isEqualTo(Executed.NO);
                })
                .hasMessageContaining(
                        "a request of 1048576 bytes was not decoded: the objects of all requests may take "
                                + (free >> 10));
        assertThat(Thread.interrupted()).isTrue();
        LargeMessages.release(all);
        assertThat(LargeMessages.objectKib()).isEqualTo(free);
    }

    @Test
    void requestOfMediumSizeIsDecodedWhileALargerOneTakesAllMemory() {
        int all = LargeMessages.startReading(Integer.MAX_VALUE, "a");
        Thread.currentThread().interrupt(); // An interrupted thread does not wait for free memory.

        int medium = LargeMessages.startReading(128 << 10, "b");

        assertThat(Thread.interrupted()).isTrue();
        LargeMessages.release(medium);
        LargeMessages.release(all);
        assertThat(LargeMessages.objectKib()).isEqualTo(free);
    }

    @Test
    void requestOfMediumSizeAlsoUsesTheMemoryOfLargerOnes() {
        Deque<Integer> taken = new ArrayDeque<>();
        Thread.currentThread().interrupt(); // An interrupted thread does not wait for free memory.
        do {
            taken.push(LargeMessages.startReading(128 << 10, "a"));
        } while (taken.element() < 0);

        assertThat(LargeMessages.objectKib()).isEqualTo(free - 128 * 80);
        assertThat(Thread.interrupted()).isTrue();
        taken.forEach(LargeMessages::release);
        assertThat(LargeMessages.objectKib()).isEqualTo(free);
    }

    @Test
    void requestOfMediumSizeWaitsWhileRunningCallsHoldAllMemory() {
        int running = LargeMessages.hold(Long.MAX_VALUE);
        Thread.currentThread().interrupt(); // An interrupted thread does not wait for free memory.

        assertThatThrownBy(() -> LargeMessages.startReading(128 << 10, "b"))
                .hasMessageContaining("a quarter of the heap");

        assertThat(Thread.interrupted()).isTrue();
        LargeMessages.ended(running);
        assertThat(LargeMessages.objectKib()).isEqualTo(free);
    }

    @Test
    void skippedRequestTakesOnlyTheMemoryOfItsBytes() {
        int permits = LargeMessages.startSkipping(1 << 20, "a");

        assertThat(LargeMessages.objectKib()).isEqualTo(free - 1024);
        LargeMessages.release(permits);
        assertThat(LargeMessages.objectKib()).isEqualTo(free);
    }

    @Test
    void runningCallHoldsTheMemoryOfLargeObjects() {
        int permits = LargeMessages.hold(1 << 20);

        assertThat(LargeMessages.objectKib()).isEqualTo(free - 1024);
        LargeMessages.ended(permits);
        assertThat(LargeMessages.objectKib()).isEqualTo(free);
    }

    @Test
    void largestRequestIsDecodedWhileACallWithLargeObjectsRuns() {
        int running = LargeMessages.hold(1 << 20);
        Thread.currentThread().interrupt(); // An interrupted thread does not wait for free memory.

        int nested = LargeMessages.startReading(Integer.MAX_VALUE, "a");

        assertThat(Thread.interrupted()).isTrue();
        LargeMessages.release(nested);
        LargeMessages.ended(running);
        assertThat(LargeMessages.objectKib()).isEqualTo(free);
    }

    @Test
    void runningCallTakesNoPermitsForSmallObjects() {
        assertThat(LargeMessages.hold(256 << 10)).isZero();
    }

    @Test
    void runningCallsMayHoldMoreThanThereIsAndNewRequestsWait() {
        int first = LargeMessages.hold(Long.MAX_VALUE);
        int second = LargeMessages.hold(1 << 20);

        assertThat(LargeMessages.objectKib()).isEqualTo(-1024);
        Thread.currentThread().interrupt(); // An interrupted thread does not wait for free memory.
        assertThatThrownBy(() -> LargeMessages.startReading(1 << 20, "a"))
                .hasMessageContaining("a quarter of the heap");
        assertThat(Thread.interrupted()).isTrue();
        LargeMessages.ended(first);
        LargeMessages.ended(second);
        assertThat(LargeMessages.objectKib()).isEqualTo(free);
    }

    @Test
    void messageWhoseObjectsDoNotFitIsRefusedBeforeItIsDecoded() {
        long quarter = (long) free << 10;

        LargeMessages.checkObjects(quarter, 8);
        assertThatThrownBy(() -> LargeMessages.checkObjects(quarter + 1024, 8))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining(
                        "the objects of this message of 8 bytes would take about " + (free >> 10) + " MiB");
    }
}
