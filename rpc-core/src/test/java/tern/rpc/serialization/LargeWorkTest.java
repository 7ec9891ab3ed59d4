package tern.rpc.serialization;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;

@Timeout(60)
class LargeWorkTest {

    private static final int MAX_WAITING = 4;

    private final LargeWork work = new LargeWork("written", "write", 1, MAX_WAITING);
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<String> served = new ArrayList<>();

    @AfterEach
    void stop() {
        threads.shutdownNow();
    }

    @Test
    void threadBeyondTheShareOfItsCallerFailsAtOnce() {
        work.enter(MessageKind.RESPONSE, "a");
        CompletableFuture<Void> first = write("a", "a1");
        CompletableFuture<Void> second = write("a", "a2");

        assertThatThrownBy(() -> work.enter(MessageKind.RESPONSE, "a"))
                .isInstanceOfSatisfying(RpcException.class, refusal -> {
                    assertThat(refusal.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
                    assertThat(refusal.wasExecuted()).isEqualTo(Executed.YES);
                })
                .hasMessageContaining("2 threads already wait to write messages of this size (at most 4, shared");

        work.leave();
        CompletableFuture.allOf(first, second).join();
        assertThat(work.waiting()).isZero();
        assertThat(work.free()).isEqualTo(1);
    }

    @Test
    void callerFailsAtOnceWhenOthersHaveAllPlacesToWait() {
        work.enter(MessageKind.RESPONSE, "a");
        List<CompletableFuture<Void>> waiting = List.of(write("a", "a1"), write("b", "b1"), write("c", "c1"));
        CompletableFuture<Void> last = write("d", "d1");

        assertThatThrownBy(() -> work.enter(MessageKind.RESPONSE, "e"))
                .hasMessageContaining("4 threads already wait to write messages of this size (at most 4, shared");

        work.leave();
        waiting.forEach(CompletableFuture::join);
        last.join();
        assertThat(work.free()).isEqualTo(1);
    }

    @Test
    void callerWithFewLargeAnswersIsServedBeforeTheRestOfAnother() {
        work.enter(MessageKind.RESPONSE, "a");
        CompletableFuture<Void> first = write("a", "a1");
        CompletableFuture<Void> second = write("a", "a2");
        CompletableFuture<Void> other = write("b", "b1");

        work.leave();

        CompletableFuture.allOf(first, second, other).join();
        assertThat(served).containsExactly("a1", "b1", "a2");
    }

    @Test
    void requestMayBecomeSixteenTimesAsLargeWithoutPermit() {
        assertThat(LargeWork.uncheckedBytes(1)).isEqualTo(8 << 10);
        assertThat(LargeWork.uncheckedBytes(140)).isEqualTo(8 << 10);
        assertThat(LargeWork.uncheckedBytes(2_000)).isEqualTo(32_000);
        assertThat(LargeWork.uncheckedBytes(8 << 20)).isEqualTo(64 << 10);
        assertThat(LargeWork.uncheckedBytes(Integer.MAX_VALUE)).isEqualTo(64 << 10);
    }

    @Test
    void unpackedRequestsAreDecodedByFewThreads() {
        List<LargeWork> held = new ArrayList<>();
        int free = Math.max(1, Runtime.getRuntime().availableProcessors() - 1);
        for (int i = 0; i < free; i++) {
            held.add(LargeWork.startDecodingUnpacked(64 << 10, "a"));
        }

        Thread.currentThread().interrupt(); // an interrupted thread does not wait for a permit
        assertThatThrownBy(() -> LargeWork.startDecodingUnpacked(64 << 10, "a"))
                .isInstanceOfSatisfying(
                        RpcException.class,
                        refusal -> assertThat(refusal.wasExecuted()).isEqualTo(Executed.NO))
                .hasMessageContaining(
                        "a message of more than 65536 bytes was not decoded: " + free + " threads are busy");
        assertThat(Thread.interrupted()).isTrue();
        held.forEach(LargeWork::end);
        LargeWork.end(LargeWork.startDecodingUnpacked(64 << 10, "a"));
    }

    /**
     * When hashing the keys of an answer is refused, the call has been executed, so the failure must not say that the
     * call can be sent again.
     */
    @Test
    void refusedHashingDoesNotClaimThatTheCallWasNotExecuted() {
        List<LargeWork> held = new ArrayList<>();
        for (int i = 0; i < Math.max(1, Runtime.getRuntime().availableProcessors() - 1); i++) {
            held.add(LargeWork.startHashing(300, "a"));
        }

        Thread.currentThread().interrupt(); // an interrupted thread does not wait for a permit
        assertThatThrownBy(() -> LargeWork.startHashing(300, "a"))
                .isInstanceOfSatisfying(
                        RpcException.class,
                        refusal -> assertThat(refusal.wasExecuted()).isEqualTo(Executed.MAYBE))
                .hasMessageContaining("a message of more than 299 bytes was not decoded, because hashing its keys"
                        + " takes many steps: ");
        assertThat(Thread.interrupted()).isTrue();
        held.forEach(LargeWork::end);
    }

    @Test
    void numberOfWaitingThreadsGrowsWithTheHeap() {
        assertThat(LargeWork.maxWaiting(64 << 20)).isEqualTo(16);
        assertThat(LargeWork.maxWaiting(256 << 20)).isEqualTo(16);
        assertThat(LargeWork.maxWaiting(4L << 30)).isEqualTo(256);
    }

    @Test
    void fewThreadsWriteLargeMessagesOnASmallHeap() {
        assertThat(LargeWork.ofWriters(64 << 20, 2).free()).isEqualTo(2);
        assertThat(LargeWork.ofWriters(255 << 20, 2).free()).isEqualTo(2);
        assertThat(LargeWork.ofWriters(256 << 20, 2).free()).isEqualTo(2);
        assertThat(LargeWork.ofWriters(4L << 30, 2).free()).isEqualTo(4);
    }

    @Test
    void threadsThatWaitToWriteHoldAtMostAnEighthOfTheHeap() {
        LargeWork writers = LargeWork.ofWriters(256 << 20, 2);
        assertThat(writers.places()).isEqualTo(16);

        writers.enter(MessageKind.RESPONSE, "a");
        writers.reached(8 << 20); // The writer has reported the size of the incomplete message.
        assertThat(writers.places()).isEqualTo(4);
        writers.leave(8 << 20);
        assertThat(writers.places()).isEqualTo(4);
    }

    @Test
    void smallerMessagesGiveThePlacesBack() {
        LargeWork writers = LargeWork.ofWriters(256 << 20, 2);
        writers.enter(MessageKind.RESPONSE, "a");
        writers.leave(8 << 20);

        for (int i = 0; i < 100; i++) {
            writers.enter(MessageKind.RESPONSE, "a");
            writers.leave(1 << 20);
        }

        assertThat(writers.places()).isEqualTo(16);
    }

    @Test
    void twoThreadsMayWaitEvenIfTheirMessagesAreLargerThanTheHeapAllows() {
        LargeWork writers = LargeWork.ofWriters(64 << 20, 2);
        writers.enter(MessageKind.RESPONSE, "a");

        writers.leave(64 << 20);

        assertThat(writers.places()).isEqualTo(2);
    }

    /**
     * Starts a thread that takes a permit and releases it immediately. Returns as soon as this thread is waiting for
     * the permit.
     */
    private CompletableFuture<Void> write(String tenant, String name) {
        int before = work.waiting();
        CompletableFuture<Void> done = CompletableFuture.runAsync(
                () -> {
                    work.enter(MessageKind.RESPONSE, tenant);
                    served.add(name); // only the thread that holds the permit runs this statement
                    work.leave();
                },
                threads);
        while (work.waiting() == before) {
            Thread.onSpinWait();
        }
        return done;
    }
}
