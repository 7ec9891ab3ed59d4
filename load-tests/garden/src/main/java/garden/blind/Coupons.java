package garden.blind;

import garden.shop.Step;
import garden.shop.Switches;
import org.springframework.stereotype.Component;

@Component
class Coupons implements Step {

    @SuppressWarnings("unused") // The field stores the result, so that the JIT compiler cannot remove the computation.
    private volatile int valid;

    @Override
    public void history(int id) {
        double level = Switches.level("code-4");
        int count = 0;
        for (int i = 0; i < level; i++) {
            count += parse("c" + i, 40) ? 1 : 0;
        }
        valid = count;
    }

    private boolean parse(String code, int depth) {
        if (depth > 0) {
            return parse(code, depth - 1);
        }
        try {
            return Integer.parseInt(code) > 0;
        } catch (NumberFormatException e) {
            return false;
        }
    }
}
