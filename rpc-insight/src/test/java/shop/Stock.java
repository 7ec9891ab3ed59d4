package shop;

import feign.Peer;
import io.smallrye.Permits;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.StampedLock;
import java.util.function.Supplier;

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

    /** Waits for an answer of a non-blocking client while holding a permit. */
    public static String exchange(Semaphore permits, Supplier<CompletableFuture<String>> client) {
        permits.acquireUninterruptibly();
        try {
            return client.get().join();
        } finally {
            permits.release();
        }
    }

    /** Waits for an answer of a non-blocking client with a token that another class takes from a queue. */
    public static String exchange(BlockingQueue<Object> tokens, Supplier<CompletableFuture<String>> client) {
        Object token = Clients.borrow(tokens);
        try {
            return client.get().join();
        } finally {
            tokens.add(token);
        }
    }

    /** Waits for an answer of a non-blocking client inside a {@link Turnstile}, which is built from a monitor. */
    public static String exchange(Turnstile gate, Supplier<CompletableFuture<String>> client) {
        gate.enter();
        try {
            return client.get().join();
        } finally {
            gate.leave();
        }
    }

    /** Lets at most two threads in at the same time. */
    public static final class Turnstile {
        private int inside;

        synchronized void enter() {
            while (inside == 2) {
                try {
                    wait();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
            inside++;
        }

        synchronized void leave() {
            inside--;
            notifyAll();
        }
    }

    /** Waits for an answer of a non-blocking client while holding a lock whose owner the JVM reports. */
    public static String exchange(ReentrantLock lock, Supplier<CompletableFuture<String>> client) {
        lock.lock();
        try {
            return client.get().join();
        } finally {
            lock.unlock();
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
