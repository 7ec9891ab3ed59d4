package garden.open;

import garden.shop.Step;
import garden.shop.Switches;
import java.util.ArrayList;
import java.util.List;
import org.springframework.stereotype.Component;

@Component
class QuoteCache implements Step {

    // Only the thread that injects faults uses this list of quotes.
    private final List<byte[]> quotes = new ArrayList<>();

    @SuppressWarnings("unused") // The field stores the array, so that the JIT compiler cannot remove the allocation.
    private volatile byte[] last = {};

    QuoteCache() {
        Switches.listen("table-4", this::put);
    }

    @Override
    public void place(int id) {
        if (Switches.on("table-4")) {
            last = load();
        }
    }

    private static byte[] load() {
        return new byte[200_000];
    }

    private void put(double megabytesLeft) {
        quotes.clear();
        if (megabytesLeft > 0) {
            System.gc();
            Runtime runtime = Runtime.getRuntime();
            long free = runtime.maxMemory() - (runtime.totalMemory() - runtime.freeMemory());
            long left = (long) (megabytesLeft * 1_000_000);
            for (long size = left; size < free; size += 100_000) {
                quotes.add(new byte[100_000]);
            }
        }
    }
}
