package feign;

import java.util.concurrent.CompletableFuture;

/** Stands in for a client library that calls a peer. The package of this class does not count as application code. */
public final class Peer {

    private Peer() {}

    public static String ask(CompletableFuture<String> answer) {
        return answer.join();
    }
}
