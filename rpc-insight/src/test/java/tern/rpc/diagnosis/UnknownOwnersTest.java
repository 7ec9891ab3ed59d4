package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import shop.PriceBook;
import tern.rpc.diagnosis.cause.Cause;

/** Tests locks whose owners the JVM does not report, held by real threads that serve no call. */
class UnknownOwnersTest {

    private final Shop shop = new Shop();
    private final PriceBook prices = new PriceBook();
    private final CountDownLatch held = new CountDownLatch(1);
    private final CountDownLatch end = new CountDownLatch(1);
    private final WaitingCalls calls = new WaitingCalls(shop);
    private final List<Thread> threads = new ArrayList<>();

    @AfterEach
    void endThreads() throws InterruptedException {
        end.countDown();
        calls.join();
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private Cause firstCause() throws Exception {
        held.await();
        shop.healthy(call -> call.own(2));
        return calls.firstCause(prices::price, call -> call.own(2));
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
        threads.add(VirtualThreads.start("scheduling-1", () -> prices.reload(held, end)));

        assertHolderIsNamed(firstCause(), "scheduling");
    }

    @Test
    void threadsOutsideOfCallsThatDoNotTakeTheLockAreNoLikelyHolders() throws Exception {
        Thread holder = new Thread(() -> prices.reload(held, end), "price-reload-1");
        threads.add(holder);
        holder.start();
        for (int i = 0; i < 3; i++) {
            Thread other = new Thread(() -> prices.ask(end), "partners-" + i);
            threads.add(other);
            other.start();
        }

        assertHolderIsNamed(firstCause(), "price-reload");
    }
}
