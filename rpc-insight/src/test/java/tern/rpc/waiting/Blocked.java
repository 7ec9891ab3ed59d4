package tern.rpc.waiting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import tern.rpc.Phase;
import tern.rpc.RunningCall;

/** A thread that a test makes wait somewhere for real, to look at its stack. Ended by an interrupt. */
public final class Blocked implements AutoCloseable {

    private static final long LONGEST_SECONDS = 30;

    /** A thread on its way may stand somewhere for a moment. */
    private static final int STEADY = 4;

    /** One that reads a class from a slow disk stands for longer. */
    private static final String LOADS_CLASSES = "jdk.internal.loader.";

    private final Thread thread;
    private volatile Throwable failure;

    /** Begins to run what will not come back. */
    public Blocked(Callable<?> waits) {
        thread = new Thread(
                () -> {
                    try {
                        waits.call();
                    } catch (Throwable e) {
                        failure = e;
                    }
                },
                "blocked");
        thread.setDaemon(true);
        thread.start();
    }

    /** Its stack as of a thread that serves a call, once it fits. */
    public ThreadStack servingWhen(Predicate<ThreadStack> fits) {
        return when(
                fits,
                List.of(new RunningCall("Some.method", thread.getId(), Phase.OWN, 0, 0, tern.rpc.CallLedger.none())));
    }

    /** Its stack, once it fits. */
    public ThreadStack when(Predicate<ThreadStack> fits) {
        return when(fits, List.of());
    }

    private ThreadStack when(Predicate<ThreadStack> fits, List<RunningCall> running) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LONGEST_SECONDS);
        ThreadStack last = null;
        while (System.nanoTime() - end < 0) {
            for (ThreadStack stack : ThreadDump.take(running)) {
                if (stack.id() == thread.getId()) {
                    last = stack;
                    if (fits.test(stack)) {
                        return stack;
                    }
                }
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
        }
        return fail("the thread never stood as expected; it failed with " + failure + " and was last seen " + last);
    }

    /** What the report would say, once it says the same several times and not that the thread is idle. */
    public Wait wait(boolean serving) {
        Wait[] last = new Wait[1];
        int[] times = new int[1];
        Predicate<ThreadStack> steady = stack -> {
            Wait wait = stack.isIn(LOADS_CLASSES) ? null : classify(stack);
            times[0] = wait != null && wait.equals(last[0]) ? times[0] + 1 : 0;
            last[0] = wait;
            return times[0] == STEADY && !wait.equals(Wait.IDLE);
        };
        return classify(serving ? servingWhen(steady) : when(steady));
    }

    /** What the report says when it names this. */
    public Wait waitsFor(String resource) {
        return classify(servingWhen(stack -> {
            Wait wait = classify(stack);
            return wait != null && wait.resource().equals(resource);
        }));
    }

    public static Wait classify(ThreadStack stack) {
        for (StackClassifier classifier : BuiltInClassifiers.all()) {
            Wait wait = classifier.classify(stack);
            if (wait != null) {
                return wait;
            }
        }
        return null;
    }

    /** What a thread of this name is classified as, once it stands still. */
    public static Wait classifyThread(String name) {
        Wait[] found = new Wait[1];
        eventually(() -> {
            found[0] = ThreadDump.take(List.of()).stream()
                    .filter(stack -> stack.name().equals(name) && stack.isWaiting() && !stack.isIn(LOADS_CLASSES))
                    .findFirst()
                    .map(Blocked::classify)
                    .orElse(null);
            assertThat(found[0]).as("classification of " + name).isNotNull();
        });
        return found[0];
    }

    /** Looks again until the assertions hold. */
    public static void eventually(Runnable assertions) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LONGEST_SECONDS);
        while (true) {
            try {
                assertions.run();
                return;
            } catch (AssertionError e) {
                if (System.nanoTime() - end >= 0) {
                    throw e;
                }
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
            }
        }
    }

    @Override
    public void close() {
        thread.interrupt();
    }
}
