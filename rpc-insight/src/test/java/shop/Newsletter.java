package shop;

import feign.Peer;
import java.util.concurrent.CompletableFuture;

/** A task unrelated to {@link Packages}. */
public final class Newsletter {

    private Newsletter() {}

    /** Waits for a server that answers at the end of the test. */
    public static void send(CompletableFuture<String> end) {
        end.join();
    }

    /** Waits for a server. A library contains the code that waits. */
    public static void mail(CompletableFuture<String> end) {
        Peer.ask(end);
    }
}
