package garden.open;

import garden.shop.Step;
import garden.shop.Switches;
import java.util.regex.Pattern;
import org.springframework.stereotype.Component;

@Component
class Titles implements Step {

    private static final Pattern CLEAN = Pattern.compile(".*,.*,.*,.*!");

    @SuppressWarnings("unused") // The field stores the result, so that the JIT compiler cannot remove the computation.
    private volatile boolean clean;

    @Override
    public void history(int id) {
        double level = Switches.level("code-1");
        if (level > 0) {
            clean = clean(",".repeat((int) level));
        }
    }

    private boolean clean(String title) {
        return CLEAN.matcher(title).matches();
    }
}
