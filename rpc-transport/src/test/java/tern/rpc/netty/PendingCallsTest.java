package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.transport.Answer;
import tern.rpc.transport.Duel;
import tern.rpc.transport.PendingCall;

@Timeout(3_600)
class PendingCallsTest {

    @Test
    void callIsFoundOnceByItsId() {
        PendingCalls pending = new PendingCalls(4);
        PendingCall call = Pending.call();
        PendingCall other = Pending.call();

        assertThat(pending.add(call)).isTrue();
        assertThat(pending.add(other)).isTrue();

        assertThat(pending.size()).isEqualTo(2);
        assertThat(pending.contains(call.id())).isTrue();
        assertThat(pending.remove(call.id())).isSameAs(call);
        assertThat(pending.remove(call.id())).isNull();
        assertThat(pending.contains(call.id())).isFalse();
        assertThat(pending.remove(other.id())).isSameAs(other);
        assertThat(pending.size()).isZero();
    }

    @Test
    void idOfAnotherCallInTheSameSlotFindsNothing() {
        PendingCalls pending = new PendingCalls(4, 16);
        PendingCall call = Pending.call();
        pending.add(call);

        for (int i = 1; i < 64; i++) {
            assertThat(pending.contains(call.id() + i * 16L)).isFalse();
            assertThat(pending.remove(call.id() - i * 16L)).isNull();
        }

        assertThat(pending.remove(call.id())).isSameAs(call);
    }

    @Test
    void highestLimitHasRoomForMoreCallsThanTheSmallestTable() {
        PendingCalls pending = new PendingCalls(ClientTransportSettings.MAX_IN_FLIGHT);

        for (int i = 0; i < 100; i++) {
            assertThat(pending.add(Pending.call())).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, 0, ClientTransportSettings.MAX_IN_FLIGHT + 1, Integer.MAX_VALUE})
    void limitWithoutATableOfItsSizeIsRefused(int limit) {
        ClientTransportSettings settings = ClientTransportSettings.named("test");

        assertThatThrownBy(() -> settings.withMaxInFlight(limit))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("maxInFlight is " + limit + "; expected 1 to 1048576");
    }

    @Test
    void fullTableTakesNoMoreUntilOneLeaves() {
        PendingCalls pending = new PendingCalls(100);
        List<PendingCall> calls = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            calls.add(Pending.call());
            assertThat(pending.add(calls.get(i))).isTrue();
        }

        assertThat(pending.add(Pending.call())).isFalse();
        pending.remove(calls.get(50).id());

        assertThat(pending.add(Pending.call())).isTrue();
        assertThat(pending.add(Pending.call())).isFalse();
        assertThat(pending.size()).isEqualTo(100);
    }

    @Test
    void idsContinueWithNegativeOnesAfterTheLargest() {
        PendingCalls pending = new PendingCalls(8, Long.MAX_VALUE - 2);
        List<PendingCall> calls = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            calls.add(Pending.call());
            assertThat(pending.add(calls.get(i))).isTrue();
        }

        assertThat(calls.get(7).id()).isNegative();
        assertThat(calls)
                .allSatisfy(call -> assertThat(pending.remove(call.id())).isSameAs(call));
    }

    @Test
    void slotOfAnOldCallIsPassedOver() {
        PendingCalls pending = new PendingCalls(2, 0);
        PendingCall old = Pending.call();
        pending.add(old);
        Set<Long> ids = new HashSet<>();
        for (int i = 0; i < 1_000; i++) {
            PendingCall call = Pending.call();
            assertThat(pending.add(call)).isTrue();
            ids.add(call.id());
            assertThat(pending.remove(call.id())).isSameAs(call);
        }

        assertThat(ids).hasSize(1_000).doesNotContain(old.id());
        assertThat(pending.remove(old.id())).isSameAs(old);
    }

    @Test
    void sweepTakesTheLateAndForgetsTheEnded() {
        PendingCalls pending = new PendingCalls(8);
        PendingCall late = Pending.call(Deadline.at(1_000), null);
        PendingCall early = Pending.call(Deadline.at(3_000), null);
        PendingCall unlimited = Pending.call();
        PendingCall ended = Pending.call();
        List.of(late, early, unlimited, ended).forEach(pending::add);
        ended.fail(RpcException.refusal(StatusCode.CANCELLED, "", Executed.MAYBE));
        List<PendingCall> swept = new ArrayList<>();

        pending.sweep(2_000, swept::add);

        assertThat(swept).containsExactly(late);
        assertThat(pending.size()).isEqualTo(2);
        assertThat(pending.contains(early.id())).isTrue();
        assertThat(pending.contains(unlimited.id())).isTrue();
    }

    @Test
    void clearHandsOverEveryCall() {
        PendingCalls pending = new PendingCalls(8);
        List<PendingCall> calls = List.of(Pending.call(), Pending.call(), Pending.call());
        calls.forEach(pending::add);
        List<PendingCall> lost = new ArrayList<>();

        pending.clear(lost::add);

        assertThat(lost).containsExactlyInAnyOrderElementsOf(calls);
        assertThat(pending.size()).isZero();
    }

    /** An answer that counts how often it is decoded or discarded. */
    private static final class CountedAnswer implements Answer {
        private final AtomicInteger ends;

        CountedAnswer(AtomicInteger ends) {
            this.ends = ends;
        }

        @Override
        public Response decode(Invocation call) {
            ends.incrementAndGet();
            return Response.of("x");
        }

        @Override
        public void discard() {
            ends.incrementAndGet();
        }
    }

    private static final int ROUNDS = Duel.rounds(500);
    private static final int CALLS = 1_000;

    @Test
    void raceOfAnswerTimeoutAndCancelEndsEveryCallOnce() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(3);
        PendingCalls pending = new PendingCalls(CALLS);
        AtomicInteger answersEnded = new AtomicInteger();
        try {
            for (int round = 0; round < ROUNDS; round++) {
                AtomicIntegerArray completions = new AtomicIntegerArray(CALLS);
                List<PendingCall> calls = new ArrayList<>();
                for (int i = 0; i < CALLS; i++) {
                    int index = i;
                    calls.add(Pending.call(Deadline.at(0), (response, failure) -> completions.incrementAndGet(index)));
                    assertThat(pending.add(calls.get(i))).isTrue();
                }
                CyclicBarrier start = new CyclicBarrier(3);

                Future<?> answers = threads.submit(() -> {
                    start.await();
                    for (PendingCall call : calls) {
                        Answer answer = new CountedAnswer(answersEnded);
                        PendingCall found = pending.remove(call.id());
                        if (found == null) {
                            answer.discard();
                        } else {
                            found.answer(answer);
                        }
                    }
                    return null;
                });
                Future<?> cancels = threads.submit(() -> {
                    start.await();
                    calls.forEach(call -> call.fail(failure(StatusCode.CANCELLED)));
                    return null;
                });
                Future<?> timeouts = threads.submit(() -> {
                    start.await();
                    pending.sweep(1, call -> call.fail(failure(StatusCode.DEADLINE_EXCEEDED)));
                    return null;
                });
                for (Future<?> side : List.of(answers, cancels, timeouts)) {
                    side.get(60, TimeUnit.SECONDS);
                }

                for (int i = 0; i < CALLS; i++) {
                    assertThat(completions.get(i)).isEqualTo(1);
                }
                assertThat(pending.size()).isZero();
                assertThat(answersEnded.getAndSet(0)).isEqualTo(CALLS);
            }
        } finally {
            threads.shutdownNow();
        }
        System.out.println("R12 calls of a connection: " + ROUNDS * (long) CALLS + " races, each ended once");
    }

    private static RpcException failure(StatusCode code) {
        return RpcException.refusal(code, "", Executed.MAYBE);
    }
}
