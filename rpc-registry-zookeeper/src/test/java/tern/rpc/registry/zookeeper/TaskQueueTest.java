package tern.rpc.registry.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;

class TaskQueueTest {

    private final Deque<Runnable> handedOver = new ArrayDeque<>();
    private final List<String> ran = new ArrayList<>();
    private final TaskQueue queue = new TaskQueue(handedOver::add);

    @Test
    void tasksThatArriveTogetherAreHandedOverTogetherInTheirOrder() {
        for (int i = 0; i < 3; i++) {
            String name = "task " + i;
            queue.add(() -> ran.add(name));
        }
        assertThat(handedOver).hasSize(1);
        assertThat(queue.size()).isEqualTo(3);

        handedOver.remove().run();

        assertThat(ran).containsExactly("task 0", "task 1", "task 2");
        assertThat(queue.size()).isZero();
    }

    @Test
    void taskAddedByATaskRunsInTheSameTurn() {
        queue.add(() -> queue.add(() -> ran.add("inner")));

        handedOver.remove().run();

        assertThat(ran).containsExactly("inner");
    }

    @Test
    void tasksBeyondTheLimitOfATurnAreHandedOverAgain() {
        for (int i = 0; i < 300; i++) {
            queue.add(() -> ran.add("task"));
        }

        handedOver.remove().run();
        assertThat(ran).hasSize(256);
        assertThat(handedOver).hasSize(1);

        handedOver.remove().run();
        assertThat(ran).hasSize(300);
        assertThat(handedOver).isEmpty();
    }

    @Test
    void taskAddedDuringAFullTurnIsHandedOverOnce() {
        queue.add(() -> queue.add(() -> ran.add("inner")));
        for (int i = 0; i < 300; i++) {
            queue.add(() -> ran.add("task"));
        }

        handedOver.remove().run();
        assertThat(handedOver).hasSize(1);

        handedOver.remove().run();
        assertThat(ran).hasSize(301).endsWith("inner");
        assertThat(handedOver).isEmpty();
    }

    @Test
    void taskAddedAfterATurnIsHandedOverAgain() {
        queue.add(() -> ran.add("first"));
        handedOver.remove().run();

        queue.add(() -> ran.add("second"));
        handedOver.remove().run();

        assertThat(ran).containsExactly("first", "second");
    }
}
