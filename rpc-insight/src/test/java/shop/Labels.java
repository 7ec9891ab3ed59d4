package shop;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.util.concurrent.CompletableFuture;

/** Calls waiting for tasks, and tasks waiting for a print server. */
public final class Labels {

    private Labels() {}

    /** Simulates a call waiting for its tasks. */
    public static void print(CompletableFuture<String> labels) {
        labels.join();
    }

    /** Simulates a task waiting for the answer of a print server. */
    public static int render(Socket server) {
        try {
            return server.getInputStream().read();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
