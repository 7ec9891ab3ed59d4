package feign;

import java.util.concurrent.CompletableFuture;

/** Stands for the client library of a peer: its package does not count as application code. */
public final class Peer {

    private Peer() {}

    public static String ask(CompletableFuture<String> answer) {
        return answer.join();
    }
}
