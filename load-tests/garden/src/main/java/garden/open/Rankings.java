package garden.open;

import garden.shop.Step;
import garden.shop.Switches;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.springframework.stereotype.Component;

@Component
class Rankings implements Step {

    @SuppressWarnings("unused") // The field stores the result, so that the JIT compiler cannot remove the computation.
    private volatile int top;

    @Override
    public void history(int id) {
        double level = Switches.level("code-3");
        if (level > 0) {
            top = top(id, (int) level);
        }
    }

    private int top(int id, int size) {
        List<Integer> scores = new ArrayList<>(size);
        for (int i = 0; i < size; i++) {
            scores.add(i * 31 * (id + 1) % 10_007);
        }
        scores.sort(Comparator.comparing(String::valueOf));
        return scores.get(0);
    }
}
