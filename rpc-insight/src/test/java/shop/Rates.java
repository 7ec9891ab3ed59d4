package shop;

import feign.Peer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;

/** A cache in which the first call loads a value, and later calls wait until the first call has loaded the value. */
public final class Rates {

    private final AtomicReference<CompletableFuture<String>> loading = new AtomicReference<>();

    public String of(CompletableFuture<String> answer) {
        CompletableFuture<String> mine = new CompletableFuture<>();
        CompletableFuture<String> others = loading.compareAndExchange(null, mine);
        if (others != null) {
            return others.join();
        }
        String rate = Peer.ask(answer);
        mine.complete(rate);
        return rate;
    }

    /** Waits until a rate has been published. No call loads this rate. */
    public static void await(CountDownLatch published) {
        try {
            published.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
