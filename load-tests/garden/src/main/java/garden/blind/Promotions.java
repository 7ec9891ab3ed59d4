package garden.blind;

import garden.shop.Naps;
import garden.shop.Rates;
import garden.shop.Step;
import garden.shop.Switches;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

@Component
class Promotions implements Step {

    private final @Nullable Rates rates;
    private final Semaphore desks = new Semaphore(2);

    Promotions(@Nullable Rates rates) {
        this.rates = rates;
    }

    @Override
    public void history(int id) {
        if (rates != null && Switches.on("downstream-2")) {
            rates.discount(id);
        }
        if (Switches.on("workers-2")) {
            review((int) Switches.level("workers-2"));
        }
    }

    @Override
    public void place(int id) {
        if (Switches.on("virtual-4")) {
            stamp((int) Switches.level("virtual-4"));
        }
        if (Switches.on("web-4") && id % 4 == 0) {
            gift(id);
        }
    }

    private void review(int millis) {
        Naps.millis(millis);
    }

    private void stamp(int millis) {
        desks.acquireUninterruptibly();
        try {
            Naps.millis(millis);
        } finally {
            desks.release();
        }
    }

    private void gift(int id) {
        Object gift = id;
        throw new IllegalArgumentException("no gift for " + gift);
    }
}
