package garden.open;

import garden.shop.Step;
import garden.shop.Switches;
import java.util.Map;
import java.util.Objects;
import org.springframework.stereotype.Component;

@Component
class Vouchers implements Step {

    private final Map<Integer, String> codes = Map.of(1, "ten", 2, "five");

    @Override
    public void place(int id) {
        if (Switches.on("errors-1")) {
            apply(id);
        }
    }

    private void apply(int id) {
        if (id % 3 == 0) {
            Objects.requireNonNull(codes.get(id), "code");
        }
    }
}
