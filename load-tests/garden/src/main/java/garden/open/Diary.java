package garden.open;

import garden.shop.Step;
import garden.shop.Switches;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

@Component
class Diary implements Step {

    private static final Logger LOG = LoggerFactory.getLogger(Diary.class);

    @Override
    public void place(int id) {
        for (int i = 0; i < Switches.level("log-3"); i++) {
            LOG.info("order {} passed step {}", id, i);
        }
    }
}
