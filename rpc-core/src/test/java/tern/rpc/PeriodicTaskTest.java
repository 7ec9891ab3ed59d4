package tern.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class PeriodicTaskTest {

    @Test
    void timerRepeatsTaskThatRanOutOfMemory() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        CountDownLatch third = new CountDownLatch(3);
        ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
        try {
            timer.scheduleWithFixedDelay(
                    new PeriodicTask("The test", () -> {
                        third.countDown();
                        if (runs.incrementAndGet() < 3) {
                            throw new OutOfMemoryError("injected");
                        }
                    }),
                    0,
                    1,
                    TimeUnit.MILLISECONDS);

            assertThat(third.await(20, TimeUnit.SECONDS)).isTrue();
        } finally {
            timer.shutdownNow();
        }
    }

    @Test
    void taskThatThrowsAnExceptionWithoutTextDoesNotEndTheTimer() {
        PeriodicTask task = new PeriodicTask("The test", () -> {
            throw new IllegalStateException() {
                @Override
                public String getMessage() {
                    throw new IllegalStateException("no text");
                }
            };
        });

        assertThatCode(task::run).doesNotThrowAnyException();
        assertThatCode(task::run).doesNotThrowAnyException();
    }
}
