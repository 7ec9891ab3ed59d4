package garden.open;

import garden.shop.Step;
import garden.shop.Switches;
import org.springframework.stereotype.Component;

@Component
class Tickets implements Step {

    @SuppressWarnings("unused") // The loop in draw() writes this field to keep the processor busy.
    private volatile long drawn;

    @Override
    public void history(int id) {
        double level = Switches.level("code-5");
        if (level > 0) {
            draw((long) (level * 1e6));
        }
    }

    private void draw(long nanos) {
        long end = System.nanoTime() + nanos;
        while (System.nanoTime() < end) {
            drawn = end;
        }
    }
}
