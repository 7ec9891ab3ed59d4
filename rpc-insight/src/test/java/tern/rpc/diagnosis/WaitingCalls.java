package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.cause.Cause;

/** Recorded calls to a shop. Each call has a real thread, which waits until the end of the test. */
public final class WaitingCalls {

    private static final int CALLS = 4;

    private final Shop shop;
    private final List<Thread> threads = new ArrayList<>();
    private Consumer<CallLedger> before = ledger -> {};

    public WaitingCalls(Shop shop) {
        this.shop = shop;
    }

    /** Sets the operations that each waiting call runs before it waits. */
    public WaitingCalls after(Consumer<CallLedger> operations) {
        before = operations;
        return this;
    }

    /**
     * Starts calls that wait until the end of the test. Simulates other calls in the meantime, and returns the first
     * cause of the late calls.
     *
     * @param wait the code that each waiting call runs on its own thread; it must not return before the end of the test
     * @param others the simulated steps of the other calls, which end in the meantime
     */
    public Cause firstCause(Runnable wait, Consumer<Shop.Steps> others) throws Exception {
        return firstCause(Collections.nCopies(CALLS, wait), others);
    }

    /**
     * Starts calls that run different code and wait until the end of the test. Simulates other calls in the meantime,
     * and returns the first cause of the late calls.
     *
     * @param waits the code of each waiting call, in the order in which the calls start
     */
    public Cause firstCause(List<Runnable> waits, Consumer<Shop.Steps> others) throws Exception {
        List<RunningCall> calls = new ArrayList<>();
        for (Runnable wait : waits) {
            calls.add(start(wait));
        }
        long started = shop.now();
        for (int second = 0; second < 6; second++) {
            for (int look = 0; look < 8; look++) {
                shop.running.clear();
                long ran = shop.now() - started;
                calls.forEach(call -> shop.running.add(
                        new RunningCall(Shop.PLACE, call.threadId(), phaseOf(call), ran, ran, call.ledger())));
                shop.diagnostician.look();
                shop.pass(100);
            }
            shop.second(100, others);
        }
        assertThat(shop.diagnosis().state()).isEqualTo(Diagnosis.State.MISS);
        return shop.diagnosis().causes().get(0);
    }

    private static Phase phaseOf(RunningCall call) {
        Phase phase = call.ledger().phase();
        return phase.isOperation() ? phase : Phase.OWN;
    }

    private RunningCall start(Runnable wait) throws Exception {
        CompletableFuture<CallLedger> ledger = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            CallLedger mine = new CallLedger(shop::now);
            before.accept(mine);
            ledger.complete(mine);
            wait.run();
        });
        threads.add(thread);
        thread.start();
        CallLedger known = ledger.get();
        while (thread.getState() != Thread.State.WAITING && thread.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
        return new RunningCall(Shop.PLACE, thread.getId(), Phase.OWN, 0, 0, known);
    }

    /** Interrupts the calls' threads, because their pauses are too long for a test. */
    void interrupt() {
        threads.forEach(Thread::interrupt);
    }

    /** Waits until the threads of the calls have ended. */
    public void join() throws InterruptedException {
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
