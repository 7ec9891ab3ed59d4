package garden.open;

import garden.shop.Naps;
import garden.shop.Step;
import garden.shop.Switches;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.stereotype.Component;

@Component
class Labels implements Step {

    private final Executor printers;

    Labels(@Qualifier("print") Executor printers) {
        this.printers = printers;
    }

    @Override
    public void place(int id) {
        double level = Switches.level("executors-5");
        if (level > 0) {
            print((int) level);
        }
    }

    private void print(int millis) {
        CompletableFuture<?>[] pages = new CompletableFuture<?>[3];
        for (int i = 0; i < pages.length; i++) {
            pages[i] = CompletableFuture.runAsync(() -> ink(millis), printers);
        }
        CompletableFuture.allOf(pages).join();
    }

    private static void ink(int millis) {
        Naps.millis(millis);
    }
}
