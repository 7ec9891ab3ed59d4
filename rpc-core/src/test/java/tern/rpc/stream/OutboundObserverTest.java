package tern.rpc.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.Deadline;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.transport.EventLoopThread;

@Timeout(60)
class OutboundObserverTest {

    private final FakeSink sink = new FakeSink();
    private final List<Runnable> later = new ArrayList<>();
    private final AtomicLong now = new AtomicLong();
    private final OutboundObserver observer =
            new OutboundObserver("Service/method", sink, new SerialExecutor(later::add), now::get);

    /** Sends a value on a separate thread and stores the exception that is thrown. */
    private static final class Sending {
        final CompletableFuture<@Nullable Throwable> failure = new CompletableFuture<>();
        final Thread thread;

        Sending(Runnable task) {
            thread = new Thread(() -> failure.complete(catchThrowable(task::run)));
            thread.start();
        }

        void awaitWaiting() {
            while (thread.getState() != Thread.State.WAITING && thread.getState() != Thread.State.TIMED_WAITING) {
                assertThat(failure).isNotDone();
                LockSupport.parkNanos(1_000_000);
            }
        }

        @Nullable
        Throwable failure() throws Exception {
            return failure.get(20, TimeUnit.SECONDS);
        }
    }

    private void runLater() {
        List<Runnable> tasks = List.copyOf(later);
        later.clear();
        tasks.forEach(Runnable::run);
    }

    @Test
    void valuesAreSentAtOnceWhileTheSinkIsReady() {
        observer.onNext("a");
        observer.onNext("b");
        observer.onCompleted();

        assertThat(sink.sent).containsExactly("a", "b");
        assertThat(sink.ends).hasValue(1);
    }

    @Test
    void valueWaitsUntilTheSinkIsReady() throws Exception {
        sink.ready = false;
        Sending sending = new Sending(() -> observer.onNext("a"));
        sending.awaitWaiting();
        observer.wake();
        sending.awaitWaiting();
        assertThat(sink.sent).isEmpty();

        sink.ready = true;
        observer.wake();

        assertThat(sending.failure()).isNull();
        assertThat(sink.sent).containsExactly("a");
    }

    @Test
    void allWaitingThreadsContinue() throws Exception {
        sink.ready = false;
        List<Sending> all = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            all.add(new Sending(() -> observer.onNext("x")));
        }
        all.forEach(Sending::awaitWaiting);

        sink.ready = true;
        observer.wake();

        for (Sending sending : all) {
            assertThat(sending.failure()).isNull();
        }
        assertThat(sink.sent).hasSize(10);
    }

    @Test
    void waitingThreadContinuesWhenTheCallEnds() throws Exception {
        sink.ready = false;
        Sending sending = new Sending(() -> observer.onNext("a"));
        sending.awaitWaiting();

        sink.close();
        observer.over();

        assertThat(sending.failure()).isSameAs(sink.over);
        assertThat(sink.sent).isEmpty();
        assertThat(observer.isReady()).isFalse();
    }

    @Test
    void deadlineEndsTheWait() {
        sink.ready = false;
        sink.deadline = Deadline.at(100);
        now.set(100);

        assertThatThrownBy(() -> observer.onNext("a"))
                .isInstanceOfSatisfying(
                        RpcException.class,
                        failure -> assertThat(failure.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED))
                .hasMessageContaining("Service/method");
    }

    @Test
    void valueIsSentWhenTheSinkAllowsNoLongerWait() {
        sink.ready = false;
        sink.mayWaitNanos = 1;

        observer.onNext("a");
        observer.onNext("b");

        assertThat(sink.sent).containsExactly("a", "b");
        assertThat(sink.mayWaitNanos).isZero();
    }

    @Test
    void valueThatTheSinkDoesNotKeepAfterTheWaitFailsTheCall() {
        RpcException full = RpcException.refusal(StatusCode.RESOURCE_EXHAUSTED, "too much", RpcException.Executed.YES);
        sink.ready = false;
        sink.mayWaitNanos = 0;
        sink.refuses = full;

        assertThatThrownBy(() -> observer.onNext("a")).isSameAs(full);

        assertThat(sink.failures).containsExactly(full);
    }

    @Test
    void interruptEndsTheWaitAndKeepsItsFlag() throws Exception {
        sink.ready = false;
        AtomicReference<Boolean> flag = new AtomicReference<>();
        Sending sending = new Sending(() -> {
            try {
                observer.onNext("a");
            } finally {
                flag.set(Thread.currentThread().isInterrupted());
            }
        });
        sending.awaitWaiting();

        sending.thread.interrupt();

        assertThat(sending.failure()).isInstanceOf(RpcException.class).hasMessageContaining("interrupted");
        assertThat(flag.get()).isTrue();
    }

    private static final class Loop extends Thread implements EventLoopThread {
        Loop(Runnable task) {
            super(task, "loop-1");
        }
    }

    @Test
    void eventLoopDoesNotWait() throws Exception {
        sink.ready = false;
        CompletableFuture<@Nullable Throwable> failure = new CompletableFuture<>();

        new Loop(() -> failure.complete(catchThrowable(() -> observer.onNext("a")))).start();

        assertThat(failure.get(20, TimeUnit.SECONDS))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("Service/method")
                .hasMessageContaining("loop-1")
                .hasMessageContaining("isReady()");
        sink.ready = true;
        CompletableFuture<@Nullable Throwable> none = new CompletableFuture<>();
        new Loop(() -> none.complete(catchThrowable(() -> observer.onNext("b")))).start();
        assertThat(none.get(20, TimeUnit.SECONDS)).isNull();
        assertThat(sink.sent).containsExactly("b");
    }

    @Test
    void valueThatCannotBeWrittenFailsTheCallAndTheCaller() {
        RpcException reason = new RpcException(StatusCode.INTERNAL, "cannot be written");
        sink.refuses = reason;

        assertThatThrownBy(() -> observer.onNext("a")).isSameAs(reason);

        assertThat(sink.failures).containsExactly(reason);
        assertThat(observer.isReady()).isFalse();
    }

    @Test
    void onlyTheFirstEndCounts() {
        observer.onCompleted();
        observer.onError(new IllegalStateException("late"));
        observer.onCompleted();

        assertThat(sink.ends).hasValue(1);
        assertThat(sink.failures).isEmpty();
        assertThatThrownBy(() -> observer.onNext("a"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("after onCompleted");
    }

    @Test
    void failureWithoutReasonEndsTheCall() {
        observer.onError(null);

        assertThat(sink.failures).singleElement().isInstanceOf(NullPointerException.class);
    }

    @Test
    void readyTaskRunsAtTheBeginningAndEachTimeTheSinkBecomesReady() {
        AtomicInteger runs = new AtomicInteger();
        observer.onReady(runs::incrementAndGet);
        assertThat(runs).hasValue(0);
        runLater();
        assertThat(runs).hasValue(1);

        sink.ready = false;
        observer.wake();
        runLater();
        assertThat(runs).hasValue(1);

        sink.ready = true;
        observer.wake();
        runLater();
        assertThat(runs).hasValue(2);
    }

    @Test
    void readyTaskGivenTooEarlyRunsLater() {
        AtomicInteger runs = new AtomicInteger();
        sink.ready = false;
        observer.onReady(runs::incrementAndGet);
        runLater();
        assertThat(runs).hasValue(0);

        sink.ready = true;
        observer.wake();
        runLater();

        assertThat(runs).hasValue(1);
    }

    @Test
    void readyTaskDoesNotRunAfterTheEnd() {
        AtomicInteger runs = new AtomicInteger();
        observer.onReady(runs::incrementAndGet);
        sink.close();
        observer.over();

        runLater();

        assertThat(runs).hasValue(0);
    }

    @Test
    void readyTaskThatThrowsFailsTheCall() {
        IllegalStateException thrown = new IllegalStateException("on purpose");
        observer.onReady(() -> {
            throw thrown;
        });

        runLater();

        assertThat(sink.failures).containsExactly(thrown);
        assertThat(observer.isReady()).isFalse();
    }
}
