package shop;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Tasks that wait for other tasks, but not forever. */
public final class Overviews {

    private Overviews() {}

    /** Waits for the result of another task for at most an hour. */
    public static String assemble(CompletableFuture<String> part) {
        try {
            return part.get(1, TimeUnit.HOURS);
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            throw new IllegalStateException(e);
        }
    }
}
