package tern.rpc.evidence;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringReader;
import java.util.List;
import org.junit.jupiter.api.Test;
import tern.rpc.evidence.VirtualStacks.Stack;

class VirtualStacksTest {

    private static List<Stack> parse(String dump) throws IOException {
        return VirtualStacks.parse(new StringReader(dump));
    }

    @Test
    void virtualThreadsOfJava25AreRead() throws IOException {
        List<Stack> stacks = parse("""
            26980
            2026-11-26T10:18:30.4Z
            25.0.3+9-LTS

            #1 "main" WAITING 2026-11-26T10:18:30.486270064Z
                at java.base/java.lang.Thread.join(Thread.java:1860)

            #23 "scheduling-1" virtual TIMED_WAITING 2026-11-26T10:18:30.486270064Z
                at java.base/java.lang.VirtualThread.parkNanos(VirtualThread.java:784)
                - parking to wait for <java.util.concurrent.locks.ReentrantLock$NonfairSync@682b2fa>
                at app//shop.PriceBook.lambda$reload$0(PriceBook.java:3)
                at shop.Native.call(Native Method)
                at shop.Hidden.call(Unknown Source)

            #28 "" virtual BLOCKED 2026-11-26T10:18:30.486661886Z
                at shop.PriceBook.price(PriceBook.java:7)
                - waiting to lock <java.lang.Object@217ed35e>
            """);

        assertThat(stacks).extracting(Stack::name).containsExactly("scheduling-1", "");
        Stack first = stacks.get(0);
        assertThat(first.id()).isEqualTo(23);
        assertThat(first.state()).isEqualTo(Thread.State.TIMED_WAITING);
        assertThat(first.frames())
                .containsExactly(
                        new StackTraceElement("java.lang.VirtualThread", "parkNanos", "VirtualThread.java", 784),
                        new StackTraceElement("shop.PriceBook", "lambda$reload$0", "PriceBook.java", 3),
                        new StackTraceElement("shop.Native", "call", null, -2),
                        new StackTraceElement("shop.Hidden", "call", null, -1));
        assertThat(stacks.get(1).state()).isEqualTo(Thread.State.BLOCKED);
    }

    @Test
    void virtualThreadsOfJava21AreRead() throws IOException {
        List<Stack> stacks = parse("""
            #22 "ForkJoinPool-1-worker-1"
                  java.base/jdk.internal.vm.Continuation.run(Continuation.java:251)

            #21 "task-1" virtual
                  java.base/java.lang.VirtualThread.park(VirtualThread.java:582)
                  java.base/java.util.concurrent.locks.LockSupport.park(LockSupport.java:221)
                  shop.PriceBook.price(PriceBook.java:7)

            #30 "task-2" virtual
                  shop.PriceBook.compute(PriceBook.java:9)
            """);

        assertThat(stacks).extracting(Stack::name).containsExactly("task-1", "task-2");
        assertThat(stacks).extracting(Stack::state).containsExactly(Thread.State.WAITING, Thread.State.RUNNABLE);
        assertThat(stacks.get(0).frames()).hasSize(3);
    }

    @Test
    void missingDumpHasNoStacks() throws IOException {
        assertThat(parse("")).isEmpty();
    }
}
