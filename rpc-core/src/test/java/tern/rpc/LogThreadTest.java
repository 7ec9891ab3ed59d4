package tern.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class LogThreadTest {

    private final LogThread log = new LogThread();
    private final LinkedBlockingQueue<Integer> written = new LinkedBlockingQueue<>();

    @Test
    void appenderThatBlocksDelaysNoCaller() throws InterruptedException {
        CountDownLatch blocked = new CountDownLatch(1);
        CountDownLatch answers = new CountDownLatch(1);
        log.execute(() -> {
            blocked.countDown();
            awaitUninterruptibly(answers);
        });
        blocked.await();

        for (int line = 0; line < 100; line++) {
            int number = line;
            log.execute(() -> written.add(number));
        }
        answers.countDown();

        for (int line = 0; line < 16; line++) {
            assertThat(written.poll(30, TimeUnit.SECONDS)).isEqualTo(line);
        }
        CountDownLatch end = new CountDownLatch(1);
        log.execute(end::countDown);
        end.await();
        assertThat(written).isEmpty();
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
