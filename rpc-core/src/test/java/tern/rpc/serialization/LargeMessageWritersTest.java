package tern.rpc.serialization;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.serialization.LargeMessages.Work;

@Timeout(60)
class LargeMessageWritersTest {

    private static final int MAX_WAITING = 2;

    @Test
    void threadBeyondTheLimitFailsAtOnce() throws InterruptedException {
        int permits = Work.WRITE.free();
        for (int i = 0; i < permits; i++) {
            Work.WRITE.enter(MessageKind.RESPONSE, MAX_WAITING);
        }
        List<Thread> waiting = new ArrayList<>();
        for (int i = 0; i < MAX_WAITING; i++) {
            Thread thread = new Thread(() -> {
                try {
                    Work.WRITE.enter(MessageKind.RESPONSE, MAX_WAITING);
                    Work.WRITE.leave();
                } catch (RpcException interrupted) {
                    // the test ended before a permit became free
                }
            });
            thread.start();
            waiting.add(thread);
        }
        while (Work.WRITE.waiting() < MAX_WAITING) {
            Thread.onSpinWait();
        }

        assertThatThrownBy(() -> Work.WRITE.enter(MessageKind.RESPONSE, MAX_WAITING))
                .isInstanceOfSatisfying(RpcException.class, refusal -> {
                    assertThat(refusal.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
                    assertThat(refusal.wasExecuted()).isEqualTo(Executed.YES);
                })
                .hasMessageContaining("2 threads already wait to write messages of that size");

        waiting.forEach(Thread::interrupt);
        for (Thread each : waiting) {
            each.join();
        }
        for (int i = 0; i < permits; i++) {
            Work.WRITE.leave();
        }
        assertThat(Work.WRITE.waiting()).isZero();
        assertThat(Work.WRITE.free()).isEqualTo(permits);
    }

    @Test
    void limitGrowsWithTheHeap() {
        assertThat(LargeMessages.maxWriters(64 << 20)).isEqualTo(8);
        assertThat(LargeMessages.maxWriters(256 << 20)).isEqualTo(16);
        assertThat(LargeMessages.maxWriters(4L << 30)).isEqualTo(256);
    }
}
