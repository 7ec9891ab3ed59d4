package garden.open;

import garden.shop.Naps;
import garden.shop.Step;
import garden.shop.Switches;
import java.util.concurrent.CompletableFuture;
import org.springframework.stereotype.Component;

@Component
class Delivery implements Step {

    @Override
    public void place(int id) {
        double level = Switches.level("executors-3");
        if (level > 0) {
            plan((int) level);
        }
    }

    private void plan(int millis) {
        CompletableFuture<Integer> route = CompletableFuture.supplyAsync(() -> route(millis));
        CompletableFuture<Integer> load = CompletableFuture.supplyAsync(() -> route(millis));
        CompletableFuture.allOf(route, load).join();
    }

    private static int route(int millis) {
        return Naps.millis(millis);
    }
}
