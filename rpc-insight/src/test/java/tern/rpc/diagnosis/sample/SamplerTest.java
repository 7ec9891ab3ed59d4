package tern.rpc.diagnosis.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import shop.Packages;
import shop.Stock;
import tern.rpc.CallLedger;
import tern.rpc.NanoClock;
import tern.rpc.Phase;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.VirtualThreads;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.evidence.RunQueue;
import tern.rpc.evidence.ThreadIds;

class SamplerTest {

    private static final Path ROOT = Path.of("/");
    private static final int WAITING = 80;

    private final ExecutorService workers = Executors.newSingleThreadExecutor();
    private final CountDownLatch release = new CountDownLatch(1);
    private final AtomicReference<Thread> worker = new AtomicReference<>();
    private final Sampler sampler = new Sampler(new RunQueue(ROOT, new ThreadIds(ROOT)));

    @AfterEach
    void end() {
        release.countDown();
        workers.shutdownNow();
    }

    @Test
    void aThreadIsSampledWhileItRunsItsCall() throws Exception {
        CallLedger ledger = beginCall();

        look(ledger);

        assertThat(sampler.samples()).containsOnlyKeys(ledger);
    }

    @Test
    void aThreadThatAnsweredItsCallMeanwhileIsNotSampled() throws Exception {
        CallLedger ledger = beginCall();
        ledger.end();

        look(ledger);

        assertThat(sampler.samples()).isEmpty();
    }

    @Test
    void aThreadThatWorksOnLongAfterTheEndOfItsCallIsSampled() throws Exception {
        CallLedger ledger = beginCall();
        ledger.end(); // the call has ended at its deadline, but its thread is still running
        RunningCall call = new RunningCall("Desk.me", worker.get().getId(), Phase.OWN, 1_000_000, 1_000_000, ledger);

        sampler.look(List.of(call), ledger.endedNanos() + TimeUnit.SECONDS.toNanos(2));

        assertThat(sampler.samples()).containsOnlyKeys(ledger);
    }

    @Test
    void aThreadThatAlreadyWaitsForItsNextTaskIsNotSampled() throws Exception {
        CallLedger ledger = beginCall();
        release.countDown();
        workers.submit(() -> {}).get();
        while (worker.get().getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }

        look(ledger);

        assertThat(sampler.samples()).isEmpty();
    }

    @Test
    void aWaitAfterTheEndOfAllMeasuredTasksOfTheCallIsCounted() throws Exception {
        CallLedger ledger = beginCall();
        ledger.child().joinAndLeave();
        look(ledger);
        assertThat(samplesOf(ledger).resultLooks).isEqualTo(1);
        assertThat(samplesOf(ledger).unattendedLooks).isZero(); // No executor task has been measured for the call yet.

        CallLedger task = ledger.child();
        task.add(Phase.EXECUTOR, 1_000);
        look(ledger);
        assertThat(samplesOf(ledger).unattendedLooks).isZero();

        task.joinAndLeave();
        look(ledger);
        assertThat(samplesOf(ledger).resultLooks).isEqualTo(3);
        assertThat(samplesOf(ledger).unattendedLooks).isEqualTo(1);
    }

    @Test
    void otherThreadsAreSampledWhileACallWaitsInAnHttpClientThatIsNotMeasured() throws Exception {
        CompletableFuture<String> answer = new CompletableFuture<>();
        AtomicReference<CallLedger> ledger = new AtomicReference<>();
        workers.execute(() -> {
            worker.set(Thread.currentThread());
            ledger.set(new CallLedger(NanoClock.SYSTEM));
            Packages.extra(answer);
        });
        Thread client = new Thread(() -> Packages.of(answer), "stock-client-1");
        client.start();
        while (worker.get() == null
                || worker.get().getState() != Thread.State.WAITING
                || client.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }

        look(ledger.get());

        assertThat(samplesOf(ledger.get()).list.get(0).part().kind()).isEqualTo(Part.Kind.HTTP);
        assertThat(sampler.tasks().executor("stock-client")).isNotNull();
        answer.complete("");
        client.join();
    }

    @Test
    void theNewestCallsAreSampledEvenIfManyCallsWereSampledBefore() throws Exception {
        CallLedger first = beginCall();
        look(first);
        CallLedger hanging = new CallLedger(NanoClock.SYSTEM);
        CallLedger last = first;
        for (int i = 0; i < Sampler.MAX_CALLS; i++) {
            look(hanging);
            last = new CallLedger(NanoClock.SYSTEM);
            look(last);
        }

        assertThat(sampler.samples())
                .hasSize(Sampler.MAX_CALLS)
                .containsKeys(hanging, last)
                .doesNotContainKey(first);
    }

    @Test
    void virtualThreadsOfOtherCallsAreNoTasks() throws Exception {
        CompletableFuture<String> answer = new CompletableFuture<>();
        List<Thread> handlers = List.of(
                VirtualThreads.start("handler-1", () -> Packages.of(answer)),
                VirtualThreads.start("handler-2", () -> Packages.of(answer)),
                VirtualThreads.start("print-1", () -> Packages.of(answer)));
        for (Thread handler : handlers) {
            while (handler.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
        }
        CompletableFuture<CallLedger> ledger = new CompletableFuture<>();
        worker.set(VirtualThreads.start("handler-3", () -> {
            ledger.complete(new CallLedger(NanoClock.SYSTEM));
            Packages.of(answer);
        }));
        CallLedger call = ledger.get();
        while (worker.get().getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }

        look(call);

        assertThat(sampler.samples()).containsOnlyKeys(call);
        assertThat(sampler.tasks().executor("handler")).isNull();
        assertThat(sampler.tasks().executor("print")).isNotNull();
        answer.complete("");
        for (Thread handler : handlers) {
            handler.join();
        }
    }

    @Test
    void theCallThatHoldsAPermitIsSampledEachTimeAlthoughManyCallsWaitForIt() throws Exception {
        CompletableFuture<String> answer = new CompletableFuture<>();
        Semaphore permits = new Semaphore(1);
        List<Thread> threads = new ArrayList<>();
        List<RunningCall> running = new ArrayList<>();
        for (int i = 0; i < WAITING; i++) {
            CompletableFuture<CallLedger> ledger = new CompletableFuture<>();
            Thread thread = new Thread(() -> {
                ledger.complete(new CallLedger(NanoClock.SYSTEM));
                Stock.take(permits, answer);
            });
            thread.start();
            while (thread.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
            threads.add(thread);
            long runningNanos = 1_000_000L + i;
            running.add(
                    new RunningCall("Stock.take", thread.getId(), Phase.OWN, runningNanos, runningNanos, ledger.get()));
        }

        for (int look = 1; look <= 10; look++) {
            sampler.look(running, System.nanoTime());
        }

        CallLedger holder =
                running.get(0).ledger(); // the first call took the permit, and has run for the shortest time
        assertThat(samplesOf(holder).withHolding(holder))
                .hasSize(10)
                .noneMatch(sample -> sample.part().name().startsWith(Part.SEMAPHORE));
        answer.complete("");
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private SampledCall samplesOf(CallLedger ledger) {
        return sampler.samples().get(ledger);
    }

    private CallLedger beginCall() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        AtomicReference<CallLedger> ledger = new AtomicReference<>();
        workers.execute(() -> {
            worker.set(Thread.currentThread());
            ledger.set(new CallLedger(NanoClock.SYSTEM));
            begun.countDown();
            await();
        });
        begun.await();
        while (worker.get().getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        return ledger.get();
    }

    private void await() {
        try {
            release.await();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void look(CallLedger ledger) {
        RunningCall call = new RunningCall("Desk.me", worker.get().getId(), Phase.OWN, 1_000_000, 1_000_000, ledger);
        sampler.look(List.of(call), System.nanoTime());
    }
}
