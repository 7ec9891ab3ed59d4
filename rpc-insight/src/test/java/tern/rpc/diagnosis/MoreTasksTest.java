package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.first;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/** Tests an executor that gets many more tasks than usual. */
class MoreTasksTest {

    private static final int THREADS = 4;

    private final Shop shop = new Shop();
    private long started;
    private Duration held = Duration.ZERO;
    private boolean isFlooded;

    private void run(int tasks, double millis) {
        started += tasks;
        held = held.plusNanos((long) (tasks * millis * 1e6));
    }

    private Cause firstCause(int tasks, double millis) {
        shop.pools.add(() -> PoolSnapshot.builder("mail", PoolKind.EXECUTOR, THREADS)
                .now(isFlooded ? THREADS : 1, 0, isFlooded ? 900 : 0)
                .counts(started, 0)
                .sums(Duration.ZERO, held)
                .settings(List.of())
                .build());
        for (int i = 0; i < 90; i++) {
            run(10, 40);
            shop.second(100, call -> call.own(2).in(Phase.EXECUTOR, "mail", 1));
        }
        isFlooded = true;
        for (int i = 0; i < 6; i++) {
            run(tasks, millis);
            shop.second(100, call -> call.own(2).in(Phase.EXECUTOR, "mail", 400));
        }
        return first(shop.diagnosis());
    }

    @Test
    void batchThatSubmitsManyTasksNeedsAnExecutorOfItsOwn() {
        Cause first = firstCause(100, 40);

        assertThat(first.name()).as(shop.diagnosis().text()).isEqualTo("mail");
        assertThat(first.change().text())
                .startsWith("use a separate executor for code that submits many tasks, such as a batch")
                .contains("900 wait; usually, it starts 10.0/s");
    }

    /** The tasks also take longer, because they all run at the same time. */
    @Test
    void tasksWhoseNumberHasGrownMoreThanTheirTimeAreTooManyAndNotTooSlow() {
        Cause first = firstCause(80, 80);

        assertThat(first.title()).as(shop.diagnosis().text()).isEqualTo("EXECUTOR TOO SMALL: mail");
        assertThat(first.change().text()).contains("usually, it starts 10.0/s");
    }

    @Test
    void slowTasksAreNoBatch() {
        assertThat(firstCause(4, 990).change().text()).doesNotContain("batch");
    }
}
