package garden.open;

import garden.shop.Step;
import garden.shop.Switches;
import java.util.ArrayList;
import java.util.List;
import org.springframework.stereotype.Component;

@Component
class Exports implements Step {

    @SuppressWarnings("unused") // The field stores the list, so that the JIT compiler cannot remove the allocation.
    private volatile List<String> last = List.of();

    @Override
    public void place(int id) {
        double level = Switches.level("collector-1");
        if (level > 0) {
            last = rows(id, (int) level);
        }
    }

    private static List<String> rows(int id, int count) {
        List<String> rows = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            rows.add("row " + i + " of " + id);
        }
        return rows;
    }
}
