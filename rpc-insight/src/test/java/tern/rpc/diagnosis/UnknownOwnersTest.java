package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import shop.PriceBook;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.RunningCall;
import tern.rpc.evidence.VirtualStacks;

/** Tests locks whose owners the JVM does not report, held by real threads that serve no call. */
class UnknownOwnersTest {

    private final Shop shop = new Shop();
    private final PriceBook prices = new PriceBook();
    private final CountDownLatch held = new CountDownLatch(1);
    private final CountDownLatch end = new CountDownLatch(1);
    private final List<Thread> threads = new ArrayList<>();

    @AfterEach
    void endThreads() throws InterruptedException {
        end.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private Cause firstCause() throws Exception {
        held.await();
        shop.healthy(call -> call.own(2));
        List<RunningCall> calls = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            calls.add(waitingCall());
        }
        long started = shop.now();
        for (int second = 0; second < 6; second++) {
            for (int look = 0; look < 8; look++) {
                shop.running.clear();
                long ran = shop.now() - started;
                calls.forEach(call -> shop.running.add(
                        new RunningCall(Shop.PLACE, call.threadId(), Phase.OWN, ran, ran, call.ledger())));
                shop.diagnostician.look();
                shop.pass(100);
            }
            shop.second(100, call -> call.own(2));
        }
        assertThat(shop.diagnosis().state()).isEqualTo(Diagnosis.State.MISS);
        return shop.diagnosis().causes().get(0);
    }

    private RunningCall waitingCall() throws Exception {
        CompletableFuture<CallLedger> ledger = new CompletableFuture<>();
        Thread caller = new Thread(() -> {
            ledger.complete(new CallLedger(shop::now));
            prices.price();
        });
        threads.add(caller);
        caller.start();
        CallLedger known = ledger.get();
        while (caller.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        return new RunningCall(Shop.PLACE, caller.getId(), Phase.OWN, 0, 0, known);
    }

    private void assertHolderIsNamed(Cause first, String holder) {
        assertThat(first.kind() + ": " + first.name()).isEqualTo("LOCK: StampedLock wanted in PriceBook.price");
        assertThat(first.change().text())
                .contains("hold the lock for less time in PriceBook.reload:")
                .contains("threads " + holder + "* run");
    }

    @Test
    void threadOutsideOfCallsThatRunsCodeOfTheLocksClassIsTheLikelyHolder() throws Exception {
        Thread holder = new Thread(() -> prices.reload(held, end), "price-reload-1");
        threads.add(holder);
        holder.start();

        assertHolderIsNamed(firstCause(), "price-reload");
    }

    @Test
    void virtualThreadOutsideOfCallsIsTheLikelyHolder() throws Exception {
        assumeTrue(VirtualStacks.isSupported(), "there are no virtual threads before Java 21");
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder");
        Object named = type.getMethod("name", String.class).invoke(builder, "scheduling-1");
        threads.add((Thread)
                type.getMethod("start", Runnable.class).invoke(named, (Runnable) () -> prices.reload(held, end)));

        assertHolderIsNamed(firstCause(), "scheduling");
    }
}
