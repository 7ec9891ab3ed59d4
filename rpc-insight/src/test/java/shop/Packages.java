package shop;

import feign.Peer;
import java.util.concurrent.CompletableFuture;

/** Application code that waits for results, directly or inside a library. */
public final class Packages {

    private Packages() {}

    /** Simulates a call that waits for its tasks. */
    public static String of(CompletableFuture<String> result) {
        return result.join();
    }

    /** Simulates a task that waits for another task. */
    public static String whole(CompletableFuture<String> part) {
        return part.join();
    }

    /** Simulates a task that waits for a peer. */
    public static String extra(CompletableFuture<String> answer) {
        return Peer.ask(answer);
    }
}
