package tern.rpc.serialization;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class StripedPoolTest {

    private static final class Thing {
        final AtomicBoolean taken = new AtomicBoolean();
    }

    private final StripedPool<Thing> pool = new StripedPool<>();

    @Test
    void returnedObjectIsTakenAgainByTheSameThread() {
        Thing thing = new Thing();

        assertThat(pool.take()).isNull();
        pool.giveBack(thing);

        assertThat(pool.take()).isSameAs(thing);
        assertThat(pool.take()).isNull();
    }

    @Test
    void keepsOnlyAFewOfManyReturnedObjects() {
        for (int i = 0; i < 10_000; i++) {
            pool.giveBack(new Thing());
        }
        int kept = 0;
        while (pool.take() != null) {
            kept++;
        }

        assertThat(kept).isBetween(1, 8);
    }

    @Test
    void nothingIsTakenByTwoThreadsAtOnce() throws InterruptedException {
        AtomicInteger shared = new AtomicInteger();
        AtomicInteger reused = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            Thread thread = new Thread(() -> {
                for (int round = 0; round < 100_000; round++) {
                    Thing kept = pool.take();
                    Thing thing = kept == null ? new Thing() : kept;
                    reused.addAndGet(kept == null ? 0 : 1);
                    if (!thing.taken.compareAndSet(false, true)) {
                        shared.incrementAndGet();
                    }
                    thing.taken.set(false);
                    pool.giveBack(thing);
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }

        assertThat(shared).hasValue(0);
        assertThat(reused).hasPositiveValue();
    }
}
