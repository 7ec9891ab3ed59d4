package tern.rpc.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import tern.rpc.endpoint.Endpoint;

/**
 * The base class of the contract tests for transports. The class provides a client, a server, and threads that make
 * calls.
 */
public abstract class TransportTest {

    private static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(20);

    private final List<AutoCloseable> open = new ArrayList<>();
    private final ExecutorService callers = Executors.newCachedThreadPool();

    /** Returns the transport under test. Each call returns the same object. */
    protected abstract TestedTransport transport();

    protected Endpoint endpoint() {
        return transport().endpoint();
    }

    /** Registers a resource to be closed after the test. Resources are closed in reverse order. */
    protected void closeLater(AutoCloseable resource) {
        open.add(resource);
    }

    @AfterEach
    void closeAll() throws Exception {
        letGo();
        for (int i = open.size() - 1; i >= 0; i--) {
            open.get(i).close();
        }
        callers.shutdownNow();
        assertThat(callers.awaitTermination(20, TimeUnit.SECONDS)).isTrue();
        everythingIsClosed();
    }

    /** Called after the test to check that all resources were released. */
    protected void everythingIsClosed() {}

    /** Unblocks all code that the test has blocked. */
    protected void letGo() {}

    public <T> Future<T> inBackground(Callable<T> call) {
        return callers.submit(call);
    }

    protected static <T> T take(BlockingQueue<T> queue) throws InterruptedException {
        T taken = queue.poll(MAX_NANOS, TimeUnit.NANOSECONDS);
        assertThat(taken).as("what was waited for").isNotNull();
        return taken;
    }

    /** Waits until the condition is true. */
    protected static void await(String what, BooleanSupplier happened) {
        long end = System.nanoTime() + MAX_NANOS;
        while (!happened.getAsBoolean()) {
            if (System.nanoTime() - end >= 0) {
                throw new AssertionError("did not happen: " + what);
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        }
    }
}
