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

/** A thread that really waits, so that a test can classify its stack. An interrupt ends it. */
public final class Blocked implements AutoCloseable {

    private static final long LONGEST_SECONDS = 30;

    /** Number of equal samples in a row, since a running thread may show the same stack for a moment. */
    private static final int STEADY = 4;

    /** A thread that loads a class from a slow disk shows the same stack for longer. */
    private static final String LOADS_CLASSES = "jdk.internal.loader.";

    private final Thread thread;
    private volatile Throwable failure;

    /** Starts a thread that runs blocking code. */
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

    /** Returns the stack when it matches, marked as a thread that serves a call. */
    public ThreadStack servingWhen(Predicate<ThreadStack> fits) {
        return when(
                fits,
                List.of(new RunningCall("Some.method", thread.getId(), Phase.OWN, 0, 0, tern.rpc.CallLedger.none())));
    }

    /** Returns the stack when it matches. */
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

    /** Returns the classified wait when it is the same several times in a row and not idle. */
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

    /** Returns the wait when the report names this resource. */
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

    /** Returns the classified wait of a thread with this name when it is stable. */
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

    /** Repeats the assertions until they hold. */
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
