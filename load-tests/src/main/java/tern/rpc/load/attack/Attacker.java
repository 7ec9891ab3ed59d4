package tern.rpc.load.attack;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import tern.rpc.load.attack.RawHttp2.Frame;

/**
 * Runs an attack in a separate process. Prints the server's reactions: the numbers of opened, closed and refused
 * connections, the number of streams that were reset or failed, and the time of the first reaction.
 */
public final class Attacker {

    private static final int PATIENCE_MILLIS = 2_000;
    private static final double NANOS = 1e9;

    /** One step of an attack. A step throws an exception if the connection is closed. */
    interface Step {
        void run() throws IOException;
    }

    final int port;
    private final long beganNanos = System.nanoTime();
    private final long endNanos;
    private final AtomicInteger opened = new AtomicInteger();
    private final AtomicInteger closed = new AtomicInteger();
    private final AtomicInteger refused = new AtomicInteger();
    private final AtomicInteger done = new AtomicInteger();
    private final AtomicLong firstNanos = new AtomicLong(-1);

    private Attacker(int port, int seconds) {
        this.port = port;
        this.endNanos = beganNanos + (long) (seconds * NANOS);
    }

    /** @param arguments {@code ATTACK PORT SECONDS} */
    public static void main(String[] arguments) throws InterruptedException {
        Attacker attacker = new Attacker(Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2]));
        Thread attacking = new Thread(() -> Attack.named(arguments[0]).run(attacker), "attack");
        attacking.setDaemon(true);
        attacking.start();
        while (attacker.goesOn()) {
            Thread.sleep(100);
        }
        System.out.println(attacker.report());
        Runtime.getRuntime().halt(0);
    }

    private String report() {
        long first = firstNanos.get();
        return "connections " + opened + " opened, " + closed + " closed or not accepted; calls " + done + " ended, "
                + refused + " reset or refused; first limit "
                + (first < 0 ? "never" : String.format("after %.1f s", (first - beganNanos) / NANOS));
    }

    boolean goesOn() {
        return System.nanoTime() - endNanos < 0;
    }

    void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void limited(AtomicInteger what) {
        if (goesOn()) {
            what.incrementAndGet();
            firstNanos.compareAndSet(-1, System.nanoTime());
        }
    }

    void ended() {
        done.incrementAndGet();
    }

    void refused() {
        limited(refused);
    }

    /**
     * Repeats a step of the attack until the attack's time is up. After the server has closed a connection, pauses
     * before the next repetition.
     */
    void again(Step step) {
        while (goesOn()) {
            try {
                step.run();
            } catch (IOException cut) {
                limited(closed);
                pause(20);
            }
        }
    }

    /** Repeats a step of the attack on several threads, including the current thread. */
    void together(int threads, Step step) {
        for (int i = 1; i < threads; i++) {
            inBackground(() -> again(step));
        }
        again(step);
    }

    static void inBackground(Runnable task) {
        Thread thread = new Thread(task, "attacking");
        thread.setDaemon(true);
        thread.start();
    }

    RawHttp2 connect(int from, int window) throws IOException {
        RawHttp2 connection = new RawHttp2(from, port, PATIENCE_MILLIS);
        opened.incrementAndGet();
        return connection.open(window);
    }

    RawDubbo connectDubbo(int from) throws IOException {
        RawDubbo connection = new RawDubbo(from, port, 15_000);
        opened.incrementAndGet();
        return connection;
    }

    /**
     * Reads all frames of a connection until it is closed.
     *
     * @param each called with every frame
     */
    void readAll(RawHttp2 connection, Consumer<Frame> each) throws IOException {
        while (goesOn()) {
            Frame frame;
            try {
                frame = connection.read();
            } catch (SocketTimeoutException silent) {
                continue;
            }
            if (frame.type() == RawHttp2.GO_AWAY) {
                throw new IOException("the server closes the connection");
            }
            if (frame.type() == RawHttp2.RESET) {
                refused();
            } else if (frame.type() == RawHttp2.HEADERS && frame.has(RawHttp2.END_STREAM)) {
                ended();
            }
            each.accept(frame);
        }
    }

    /** Reads and discards all frames on a separate thread, which records when the server closes the connection. */
    void watch(RawHttp2 connection) {
        watch(connection, frame -> {});
    }

    /** Reads on a separate thread and passes every frame to {@code each}. */
    void watch(RawHttp2 connection, Consumer<Frame> each) {
        inBackground(() -> {
            try {
                readAll(connection, each);
            } catch (IOException cut) {
                limited(closed);
            }
        });
    }
}
