package tern.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CallTaskTest {

    private final AtomicLong time = new AtomicLong();
    private final CallLedger call = new CallLedger(time::get);
    private final ExecutorService other = Executors.newSingleThreadExecutor();

    @AfterEach
    void stop() {
        CallLedger.replace(null);
        other.shutdownNow();
    }

    private void onOtherThread(Runnable task) throws Exception {
        other.submit(task).get(30, TimeUnit.SECONDS);
    }

    private Runnable handedOver(Runnable task) {
        CallLedger before = CallLedger.replace(call);
        try {
            return CallTask.of(task, "mail");
        } finally {
            CallLedger.replace(before);
        }
    }

    private void statement(long nanos) {
        CallLedger ledger = CallLedger.current();
        Phase outer = ledger.enter(Phase.SQL);
        time.addAndGet(nanos);
        ledger.leave(outer, "select 1");
    }

    private long nanos(Phase phase) {
        return call.nanos(phase, time.get());
    }

    /** Runs a scheduler's task on a thread with the given name, 5 ms after the task was submitted. */
    private void scheduledOn(String thread) throws Exception {
        CallLedger before = CallLedger.replace(call);
        Runnable task = CallTask.ofScheduled(() -> {}, "reactor");
        CallLedger.replace(before);
        time.addAndGet(5_000_000);
        onOtherThread(() -> {
            Thread.currentThread().setName(thread);
            task.run();
        });
    }

    @Test
    void delayOfATimerIsNoWaitForAThread() throws Exception {
        scheduledOn("parallel-2");

        assertThat(call.count(Phase.EXECUTOR)).isZero();
    }

    @Test
    void taskOfAnElasticSchedulerWaitsForAThread() throws Exception {
        scheduledOn("boundedElastic-1");

        assertThat(nanos(Phase.EXECUTOR)).isEqualTo(5_000_000);
    }

    @Test
    void operationsOfATaskCountForTheCallThatWaitsForIt() throws Exception {
        onOtherThread(handedOver(() -> statement(5_000_000)));

        assertThat(nanos(Phase.SQL)).isEqualTo(5_000_000);
        assertThat(call.count(Phase.SQL)).isOne();
        assertThat(call.count(Phase.EXECUTOR)).as("waits for a thread").isOne();
        assertThat(call.named()).contains(new NamedTimes.Entry(Phase.SQL, "select 1", 1, 5_000_000));
        assertThat(nanos(Phase.OWN)).as("the wait is explained").isZero();
    }

    @Test
    void taskIsUnfinishedUntilAThreadStartsIt() throws Exception {
        Runnable task = handedOver(() -> {});
        time.addAndGet(7_000_000);

        assertThat(call.unfinished()).containsExactly(new NamedTimes.Entry(Phase.EXECUTOR, "mail", 1, 7_000_000));
        assertThat(call.count(Phase.EXECUTOR)).isZero();

        onOtherThread(task);

        assertThat(call.unfinished()).isEmpty();
        assertThat(call.count(Phase.EXECUTOR)).isOne();
    }

    @Test
    void taskDuringAnOperationOfTheCallDoesNotReduceItsTime() throws Exception {
        Runnable task = handedOver(() -> statement(5_000_000));
        Phase outer = call.enter(Phase.HTTP);
        onOtherThread(task);
        call.leave(outer);

        assertThat(nanos(Phase.HTTP)).isEqualTo(5_000_000);
        assertThat(nanos(Phase.SQL)).isZero();
    }

    @Test
    void taskThatContinuesAfterItsCallDoesNotCount() throws Exception {
        Runnable task = handedOver(() -> statement(5_000_000));
        call.end();
        onOtherThread(task);

        assertThat(nanos(Phase.SQL)).isZero();
        assertThat(call.named()).isEmpty();
    }

    @Test
    void runningTaskIsAPartOfItsCall() throws Exception {
        AtomicReference<Thread> seen = new AtomicReference<>();
        onOtherThread(handedOver(() -> seen.set(call.parts().get(0).thread())));

        assertThat(seen.get()).isNotNull().isNotSameAs(Thread.currentThread());
        assertThat(call.parts()).isEmpty();
    }

    @Test
    void taskRunByItsCallerWritesTheLedgerOfTheCall() {
        CallLedger.replace(call);
        CallTask.of(() -> assertThat(CallLedger.current()).isSameAs(call), "mail")
                .run();

        assertThat(call.count(Phase.EXECUTOR)).isZero();
    }

    @Test
    void nameOfTheExecutorWhoseTaskTheCallerRunsIsRecordedWithTheTimeOfTheTask() {
        CallLedger.replace(call);
        CallTask.of(() -> statement(5_000_000), "mail").run();

        assertThat(call.named()).contains(new NamedTimes.Entry(Phase.CALLER_RUNS, "mail", 1, 5_000_000));
        assertThat(nanos(Phase.CALLER_RUNS)).isZero();
        assertThat(nanos(Phase.SQL)).isEqualTo(5_000_000);
    }

    @Test
    void taskOutsideOfCallsIsNotWrapped() {
        Runnable task = () -> {};

        assertThat(CallTask.of(task, "mail")).isSameAs(task);
    }

    @Test
    void taskWithAResultReturnsOrThrowsIt() throws Exception {
        CallLedger.replace(call);
        Callable<String> result = CallTask.ofResult(() -> "done", "mail");
        Callable<String> failure = CallTask.ofResult(
                () -> {
                    throw new IllegalStateException("no");
                },
                "mail");

        assertThat(other.submit(result).get(30, TimeUnit.SECONDS)).isEqualTo("done");
        assertThatThrownBy(failure::call).isInstanceOf(IllegalStateException.class);
    }
}
