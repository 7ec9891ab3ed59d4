package shop;

import com.mchange.v2.EmptyPool;
import feign.Peer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;
import reactor.Blocking;

/** Application code that waits for results, directly or inside a library. */
public final class Packages {

    private Packages() {}

    /** Simulates a call waiting for its tasks. */
    public static String of(CompletableFuture<String> result) {
        return result.join();
    }

    /** Simulates a task waiting for a task that it has submitted. */
    public static String split(FutureTask<String> part) {
        try {
            return part.get();
        } catch (InterruptedException | ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Simulates a task waiting for another task. */
    public static String whole(CompletableFuture<String> part) {
        return part.join();
    }

    /** Simulates a task that waits for several tasks, one after the other. */
    public static List<String> all(CompletableFuture<String> part) {
        return Stream.of(part).map(CompletableFuture::join).toList();
    }

    /** Simulates a task waiting for a connection to a database. */
    public static String stored(CompletableFuture<String> connection) {
        return EmptyPool.getConnection(connection);
    }

    /** Simulates a task waiting for a lock. */
    public static void locked(Object lock) {
        synchronized (lock) {
            lock.notifyAll();
        }
    }

    /** Holds a lock until the end of the test. */
    public static void lock(Object lock, CountDownLatch held, CompletableFuture<String> end) {
        synchronized (lock) {
            held.countDown();
            end.join();
        }
    }

    /** Simulates a task waiting for a peer. */
    public static String extra(CompletableFuture<String> answer) {
        return Peer.ask(answer);
    }

    /** Simulates a task waiting for the answer of a reactive client. */
    public static String offered(CompletableFuture<String> answer) {
        return Blocking.block(answer);
    }
}
