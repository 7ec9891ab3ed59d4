package garden.blind;

import garden.shop.Naps;
import garden.shop.Step;
import garden.shop.Switches;
import org.springframework.stereotype.Component;

@Component
class Countries implements Step {

    @Override
    public void place(int id) {
        if (Switches.on("lock-4")) {
            Names.of(id);
        }
    }

    private static final class Names {

        private static final int COUNT = load();

        private static int load() {
            return Naps.millis(18_000) % 7;
        }

        static int of(int id) {
            return id % (COUNT + 1);
        }
    }
}
