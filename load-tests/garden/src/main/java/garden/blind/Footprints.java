package garden.blind;

import garden.shop.Step;
import garden.shop.Switches;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

@Component
class Footprints implements Step {

    private static final Logger LOG = LoggerFactory.getLogger(Footprints.class);

    @Override
    public void place(int id) {
        for (int i = 0; i < Switches.level("log-2"); i++) {
            LOG.info("order {} came by step {}, and nothing about it is worth to be written down for ever", id, i);
        }
    }
}
