package garden.open;

import garden.shop.Naps;
import garden.shop.Step;
import garden.shop.Switches;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.stereotype.Component;

@Component
class Catalogue implements Step {

    private final Map<String, Integer> pages = new ConcurrentHashMap<>();

    @Override
    public void place(int id) {
        double level = Switches.level("lock-3");
        if (level > 0) {
            page((int) level);
        }
    }

    private void page(int millis) {
        pages.compute("front", (name, count) -> Naps.millis(millis));
    }
}
