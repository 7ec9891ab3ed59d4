package shop;

import feign.Peer;
import io.smallrye.Permits;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.StampedLock;

/** Application code that calls a peer while holding a permit, or through a client from the application's own pool. */
public final class Stock {

    private Stock() {}

    /** Calls the peer in a lambda that a library runs with a permit. */
    public static void take(Semaphore permits, CompletableFuture<String> answer) {
        Permits.with(permits, () -> Client.ask(answer));
    }

    /** Does work while holding a permit, without calling another process. */
    public static void count(Semaphore permits, CompletableFuture<String> end) {
        permits.acquireUninterruptibly();
        try {
            Count.all(end);
        } finally {
            permits.release();
        }
    }

    /** Does work while holding a lock whose owner the JVM does not report. */
    public static void refresh(StampedLock lock, CompletableFuture<String> end) {
        long stamp = lock.writeLock();
        try {
            Count.all(end);
        } finally {
            lock.unlockWrite(stamp);
        }
    }

    /** Keeps the calling thread busy until the end of the test. */
    static final class Count {

        private Count() {}

        static void all(CompletableFuture<String> end) {
            end.join();
        }
    }

    /** Calls the peer with an object that another class takes from a queue. */
    public static void takeFrom(BlockingQueue<Object> clients, CompletableFuture<String> answer) {
        Object client = Clients.borrow(clients);
        Client.ask(answer);
        clients.add(client);
    }

    /** Calls the peer. */
    static final class Client {

        private Client() {}

        static String ask(CompletableFuture<String> answer) {
            return Peer.ask(answer);
        }
    }

    /** Takes clients from a queue. */
    static final class Clients {

        private Clients() {}

        static Object borrow(BlockingQueue<Object> clients) {
            try {
                return clients.take();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
