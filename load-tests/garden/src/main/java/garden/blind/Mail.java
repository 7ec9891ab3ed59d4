package garden.blind;

import garden.shop.Naps;
import java.util.concurrent.CompletableFuture;
import org.springframework.scheduling.annotation.Async;
import org.springframework.stereotype.Component;

/** Sends mail asynchronously, on the application's executor. */
@Component
public class Mail {

    @Async
    public void send(int millis) {
        Naps.millis(millis);
    }

    @Async
    public CompletableFuture<Integer> sticker(int id) {
        return CompletableFuture.completedFuture(id);
    }
}
