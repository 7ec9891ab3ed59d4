package garden.blind;

import garden.shop.Step;
import garden.shop.Switches;
import java.util.ArrayList;
import java.util.List;
import org.springframework.stereotype.Component;

@Component
class Recipients implements Step {

    @SuppressWarnings("unused") // The field stores the result, so that the JIT compiler cannot remove the computation.
    private volatile int size;

    @Override
    public void history(int id) {
        double level = Switches.level("code-6");
        if (level > 0) {
            size = merge((int) level, id);
        }
    }

    private int merge(int count, int id) {
        List<String> merged = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            String name = "recipient-" + i + "-" + id;
            if (!merged.contains(name)) {
                merged.add(name);
            }
        }
        return merged.size();
    }
}
