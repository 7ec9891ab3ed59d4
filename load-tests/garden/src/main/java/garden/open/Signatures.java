package garden.open;

import garden.shop.Naps;
import garden.shop.Step;
import garden.shop.Switches;
import org.springframework.stereotype.Component;

@Component
class Signatures implements Step {

    @Override
    public void place(int id) {
        double level = Switches.level("table-3");
        if (level > 0) {
            sign((int) level);
        }
    }

    private synchronized void sign(int millis) {
        Naps.millis(millis);
    }
}
