package garden.open;

import garden.shop.Naps;
import garden.shop.Step;
import garden.shop.Switches;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.stereotype.Component;

@Component
class Packing implements Step {

    private final Executor packers;

    Packing(@Qualifier("pack") Executor packers) {
        this.packers = packers;
    }

    @Override
    public void place(int id) {
        double level = Switches.level("executors-1");
        if (level > 0) {
            pack((int) level);
        }
    }

    private void pack(int millis) {
        CompletableFuture.supplyAsync(() -> box(millis), packers).join();
    }

    private static int box(int millis) {
        return Naps.millis(millis);
    }
}
