package shop;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/** A service whose method completes its result only on one path. */
public class Invoicing {

    public CompletableFuture<String> invoice(long id, Executor work) {
        CompletableFuture<String> answer = new CompletableFuture<>();
        work.execute(() -> {
            if (id % 4 == 0) {
                return;
            }
            answer.complete("invoice " + id);
        });
        return answer;
    }

    public void pay() {
        throw new IllegalStateException("not paid");
    }

    public String print(long id) {
        return "invoice " + id;
    }

    public String print(String id) {
        return "invoice " + id;
    }
}
