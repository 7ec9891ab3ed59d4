package shop;

import feign.Peer;
import java.util.concurrent.CompletableFuture;

/** Application code that waits for results, directly or inside a library. */
public final class Packages {

    private Packages() {}

    /** Waits, as a call, for its tasks. */
    public static String of(CompletableFuture<String> result) {
        return result.join();
    }

    /** Waits, as a task, for another task. */
    public static String whole(CompletableFuture<String> part) {
        return part.join();
    }

    /** Waits, as a task, for a peer. */
    public static String extra(CompletableFuture<String> answer) {
        return Peer.ask(answer);
    }
}
