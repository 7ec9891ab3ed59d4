package shop;

import feign.Peer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

/** Application code that waits for tasks of other classes in the same package. The class also contains a task. */
public final class Brochures {

    private Brochures() {}

    /** Waits for a task that was submitted to an executor. */
    public static String of(Future<String> task) {
        try {
            return task.get();
        } catch (InterruptedException | ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A task waiting for a peer. */
    public static final class Printer {

        private Printer() {}

        public static String print(CompletableFuture<String> answer) {
            return Peer.ask(answer);
        }
    }
}
