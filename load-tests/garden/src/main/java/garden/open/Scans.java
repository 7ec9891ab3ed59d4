package garden.open;

import garden.shop.Step;
import garden.shop.Switches;
import org.springframework.stereotype.Component;

@Component
class Scans implements Step {

    @SuppressWarnings("unused") // The field stores the array, so that the JIT compiler cannot remove the allocation.
    private volatile byte[] last = {};

    @Override
    public void place(int id) {
        double level = Switches.level("collector-3");
        for (int i = 0; i < level; i++) {
            last = read(6_000_000);
        }
        if (level == 0 && last.length > 0) {
            last = new byte[0];
        }
    }

    private static byte[] read(int bytes) {
        return new byte[bytes];
    }
}
