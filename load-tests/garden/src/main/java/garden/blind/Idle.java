package garden.blind;

import garden.shop.Naps;
import garden.shop.Step;
import garden.shop.Switches;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;

/** Harmless activities of the shop application that look like faults but do not slow down calls. */
@Component
class Idle implements Step {

    private static final Logger LOG = LoggerFactory.getLogger(Idle.class);

    @SuppressWarnings("unused") // The field stores the array, so that the JIT compiler cannot remove the allocation.
    private volatile byte[] last = {};

    Idle(DataSource source) {
        JdbcTemplate jdbc = new JdbcTemplate(source);
        Switches.listen("healthy-threads", threads -> {
            for (int i = 0; i < threads; i++) {
                start(() -> Naps.millis(25_000), "idle-" + i);
            }
        });
        Switches.listen("healthy-sql", millis -> {
            if (millis > 0) {
                start(() -> jdbc.queryForObject("select tax(?)", Integer.class, (int) millis), "nightly");
            }
        });
        Switches.listen("healthy-gc", level -> {
            if (level > 0) {
                System.gc();
            }
        });
    }

    private static void start(Runnable task, String name) {
        Thread thread = new Thread(null, task, name, 128 * 1_024);
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void place(int id) {
        for (int i = 0; i < Switches.level("healthy-garbage"); i++) {
            last = new byte[100_000];
        }
        for (int i = 0; i < Switches.level("healthy-log"); i++) {
            LOG.info("order {} line {}", id, i);
        }
    }
}
