package tern.rpc.netty.streams;

import java.util.concurrent.atomic.AtomicInteger;

/** Sends messages that were not requested, even after a cancellation or concurrently with other senders. */
final class Unruly {

    private static final int MESSAGES = 2_000;

    private Unruly() {}

    static void send(int messages, Runnable one) {
        for (int i = 0; i < messages; i++) {
            one.run();
        }
    }

    /** Sends messages on several threads at the same time. The last thread then ends the stream. */
    static void sendOnThreads(int threads, Runnable one, Runnable end) {
        AtomicInteger running = new AtomicInteger(threads);
        for (int i = 0; i < threads; i++) {
            Thread thread = new Thread(
                    () -> {
                        try {
                            send(MESSAGES, () -> sendAnyhow(one));
                        } finally {
                            if (running.decrementAndGet() == 0) {
                                end.run();
                            }
                        }
                    },
                    "unruly");
            thread.setDaemon(true);
            thread.start();
        }
    }

    private static void sendAnyhow(Runnable one) {
        try {
            one.run();
        } catch (RuntimeException e) {
            // the stream has ended or has too many unsent bytes, but the sender continues
        }
    }
}
