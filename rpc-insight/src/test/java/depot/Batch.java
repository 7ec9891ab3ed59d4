package depot;

import feign.Peer;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;

/** Application work that no call waits for. */
public final class Batch {

    private Batch() {}

    public static void run(CompletableFuture<String> end) {
        end.join();
    }

    /** Waits for a peer. */
    public static String ask(CompletableFuture<String> answer) {
        return Peer.ask(answer);
    }

    /** Waits for the next item, as a consumer does. */
    public static void consume(BlockingQueue<Runnable> items) {
        try {
            items.take().run();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
