package reactor;

import java.util.concurrent.CompletableFuture;

/**
 * Stands in for a reactive client while code waits for its answer. The package of this class does not count as
 * application code.
 */
public final class Blocking {

    private Blocking() {}

    public static String block(CompletableFuture<String> answer) {
        return answer.join();
    }
}
