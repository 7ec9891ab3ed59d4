package garden.blind;

import garden.shop.Naps;
import garden.shop.Step;
import garden.shop.Switches;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import org.springframework.stereotype.Component;

@Component
class Statistics implements Step {

    Statistics() {
        Switches.listen("executors-6", level -> {
            for (int i = 0; i < level; i++) {
                ForkJoinPool.commonPool().execute(this::batch);
            }
        });
    }

    @Override
    public void place(int id) {
        if (Switches.on("executors-6")) {
            count(id);
        }
    }

    private void count(int id) {
        CompletableFuture.supplyAsync(() -> id % 7).join();
    }

    private void batch() {
        for (int i = 0; i < 6 && Switches.on("executors-6"); i++) {
            Naps.millis(400);
        }
        if (Switches.on("executors-6")) {
            ForkJoinPool.commonPool().execute(this::batch);
        }
    }
}
