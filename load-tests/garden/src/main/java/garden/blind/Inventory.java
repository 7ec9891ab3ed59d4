package garden.blind;

import garden.shop.Naps;
import garden.shop.Step;
import garden.shop.Switches;
import org.springframework.stereotype.Component;

@Component
class Inventory implements Step {

    @SuppressWarnings("unused") // Only threads that hold the monitor write this field. No code reads it.
    private int counted;

    Inventory() {
        Switches.listen("lock-6", level -> {
            if (level > 0) {
                Thread thread = new Thread(this::recount, "housekeeping");
                thread.setDaemon(true);
                thread.start();
            }
        });
    }

    @Override
    public void place(int id) {
        if (Switches.on("lock-6")) {
            count();
        }
    }

    private synchronized void count() {
        counted++;
    }

    private void recount() {
        while (Switches.on("lock-6")) {
            audit();
            Naps.millis(300);
        }
    }

    private synchronized void audit() {
        Naps.millis((int) Switches.level("lock-6"));
    }
}
