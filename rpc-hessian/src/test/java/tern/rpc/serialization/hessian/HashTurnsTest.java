package tern.rpc.serialization.hessian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.serialization.LargeWork;

/** Tests that only a few threads at a time may hash keys that take many steps per byte of their message. */
@Timeout(60)
class HashTurnsTest {

    private final Coding coding = Coding.of(PlainService.class);
    private final List<LargeWork> held = new ArrayList<>();

    @BeforeEach
    void occupyAllThreadsThatHash() {
        for (int i = 0; i < Math.max(1, Runtime.getRuntime().availableProcessors() - 1); i++) {
            held.add(LargeWork.startHashing(1 << 10, "a"));
        }
    }

    @AfterEach
    void stopHashing() {
        held.forEach(LargeWork::end);
        held.clear();
    }

    /**
     * Returns a set that contains a list. Each level of the list contains two references to the next level, so hashing
     * the list visits 2 to the power of 15 values.
     */
    private static byte[] costlyKey() {
        int levels = 15;
        StringBuilder bytes = new StringBuilder("58 " + Integer.toHexString(0x92 + levels) + " 78");
        for (int level = 1; level <= levels; level++) {
            String next = " 51 " + Integer.toHexString(0x90 + level);
            bytes.append(" 7a").append(next).append(next);
        }
        return Coding.bytes(bytes + " 71 \"java.util.HashSet\" 51 " + Integer.toHexString(0x91 + levels));
    }

    @Test
    void messageWaitsUntilAnotherMessageHasHashedItsKeys() {
        byte[] bytes = costlyKey();
        AtomicBoolean ended = new AtomicBoolean();
        CompletableFuture<Object> read = CompletableFuture.supplyAsync(() -> {
            Object value = coding.read(bytes);
            assertThat(ended).isTrue();
            return value;
        });
        while (waitingThreads() == 0 && !read.isDone()) {
            Thread.onSpinWait();
        }

        ended.set(true);
        stopHashing();

        assertThat(read.join()).isNotNull();
    }

    private static long waitingThreads() {
        return Thread.getAllStackTraces().entrySet().stream()
                .filter(thread -> thread.getKey().getState() == Thread.State.TIMED_WAITING)
                .filter(thread -> Arrays.stream(thread.getValue())
                        .anyMatch(frame -> frame.getClassName().equals(LargeWork.class.getName())))
                .count();
    }

    @Test
    void messageThatGetsNoTurnIsRefusedForLackOfResources() {
        byte[] bytes = costlyKey();
        Thread.currentThread().interrupt(); // An interrupted thread does not wait for a permit to hash many keys.

        assertThatThrownBy(() -> coding.read(bytes)).isInstanceOfSatisfying(RpcException.class, refusal -> {
            assertThat(refusal.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
            assertThat(refusal.wasExecuted()).isEqualTo(Executed.MAYBE);
        });
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void messagesOfOneSenderLeaveRoomForMessagesOfOthers() throws InterruptedException {
        byte[] bytes = costlyKey();
        int messages = 40; // 40 messages are more than the threads that may wait for a permit
        AtomicInteger refused = new AtomicInteger();
        List<Thread> readers = new ArrayList<>();
        for (int i = 0; i < messages; i++) {
            Thread reader = new Thread(() -> {
                try {
                    coding.readFrom("one", bytes);
                } catch (RpcException e) {
                    refused.incrementAndGet();
                }
            });
            readers.add(reader);
            reader.start();
        }
        while (refused.get() + waitingThreads() < messages) {
            Thread.onSpinWait();
        }

        Thread.currentThread().interrupt(); // An interrupted thread does not wait for a permit to hash many keys.
        assertThatThrownBy(() -> coding.readFrom("one", bytes)).hasMessageContaining("threads already wait");
        assertThatThrownBy(() -> coding.readFrom("other", bytes)).hasMessageContaining("threads are busy");

        assertThat(Thread.interrupted()).isTrue();
        stopHashing();
        for (Thread reader : readers) {
            reader.join();
        }
    }

    @Test
    void keysThatShareNothingNeedNoTurn() {
        Set<Object> lists = IntStream.range(0, 1_000)
                .mapToObj(i -> List.of("the same text", i, i + 1, i + 2))
                .collect(Collectors.toCollection(HashSet::new));
        Set<Object> sets =
                Set.of(Set.of(Set.of(IntStream.range(0, 1_000).boxed().collect(Collectors.toSet()))));

        assertThat(coding.through(lists, Object.class)).isEqualTo(lists);
        assertThat(coding.through(sets, Object.class)).isEqualTo(sets);
    }

    @Test
    void turnEndsWhenAValueHasBeenReadOrRefused() {
        stopHashing();
        byte[] bytes = costlyKey();
        for (int i = 0; i < 40; i++) { // 40 messages are more than the available permits
            coding.read(bytes);
        }
        bytes[1]++; // the list's last element is missing, so reading fails after the keys have been hashed
        for (int i = 0; i < 40; i++) {
            assertThatThrownBy(() -> coding.read(bytes)).isNotInstanceOf(RpcException.class);
        }

        occupyAllThreadsThatHash();
        assertThat(held).isNotEmpty();
    }
}
