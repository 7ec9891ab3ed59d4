package garden.blind;

import garden.shop.Step;
import garden.shop.Switches;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.springframework.stereotype.Component;

/** Keeps a lot of memory reachable, and requests a garbage collection after some orders. */
@Component
class Cleanup implements Step {

    private final List<Map<String, String>> pages = new ArrayList<>(); // this field is used only by the control thread

    Cleanup() {
        Switches.listen("collector-2", level -> {
            pages.clear();
            for (int i = 0; level > 0 && i < 300; i++) {
                Map<String, String> page = new HashMap<>();
                for (int j = 0; j < 1_000; j++) {
                    page.put("key " + j, "value " + i);
                }
                pages.add(page);
            }
        });
    }

    @Override
    public void place(int id) {
        if (Switches.on("collector-2") && id % (int) Switches.level("collector-2") == 0) {
            tidy();
        }
    }

    private static void tidy() {
        System.gc();
    }
}
