package garden.blind;

import garden.shop.Step;
import garden.shop.Switches;
import org.springframework.stereotype.Component;

@Component
class Bundles implements Step {

    @SuppressWarnings("unused") // The field stores the result, so that the JIT compiler cannot remove the computation.
    private volatile int best;

    @Override
    public void history(int id) {
        double level = Switches.level("code-2");
        if (level > 0) {
            best = best((int) level, id);
        }
    }

    /** Computes the best price of a bundle recursively. The time doubles with each part of the bundle. */
    private int best(int parts, int seed) {
        if (parts == 0) {
            return seed % 7;
        }
        return Math.max(best(parts - 1, seed * 31 + 1), best(parts - 1, seed * 17 + 3));
    }
}
