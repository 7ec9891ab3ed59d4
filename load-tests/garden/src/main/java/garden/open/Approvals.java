package garden.open;

import garden.shop.Step;
import garden.shop.Switches;
import java.util.concurrent.CountDownLatch;
import org.springframework.stereotype.Component;

@Component
class Approvals implements Step {

    private volatile CountDownLatch gate = new CountDownLatch(1);

    Approvals() {
        Switches.listen("workers-1", level -> {
            if (level == 0) {
                CountDownLatch closed = gate;
                gate = new CountDownLatch(1);
                closed.countDown();
            }
        });
    }

    @Override
    public void history(int id) {
        if (Switches.on("workers-1")) {
            approve();
        }
    }

    private void approve() {
        try {
            gate.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
