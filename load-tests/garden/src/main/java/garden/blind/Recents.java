package garden.blind;

import garden.shop.Step;
import garden.shop.Switches;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.stereotype.Component;

@Component
class Recents implements Step {

    private final Map<Integer, byte[][]> seen = new ConcurrentHashMap<>();

    Recents() {
        Switches.listen("collector-4", level -> {
            if (level == 0) {
                seen.clear();
            }
        });
    }

    @Override
    public void place(int id) {
        if (Switches.on("collector-4")) {
            remember(id);
        }
    }

    private void remember(int id) {
        Runtime runtime = Runtime.getRuntime();
        long free = runtime.maxMemory() - runtime.totalMemory() + runtime.freeMemory();
        byte[][] pages = new byte[(int) Switches.level("collector-4")][];
        for (int i = 0; i < pages.length; i++) {
            pages[i] = new byte[5_000];
        }
        if (free > 12_000_000) { // keeps pages only while memory is free, to prevent an OutOfMemoryError
            seen.put(id, pages);
        }
    }
}
