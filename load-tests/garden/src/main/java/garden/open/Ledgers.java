package garden.open;

import garden.shop.Step;
import garden.shop.Switches;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;

@Component
class Ledgers implements Step {

    private final JdbcTemplate jdbc;

    Ledgers(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    @Override
    public void place(int id) {
        double level = Switches.level("lock-5");
        if (level > 0) {
            book((int) level);
        }
    }

    private synchronized void book(int millis) {
        jdbc.queryForObject("select total + tax(?) from orders where id = 7", Integer.class, millis);
    }
}
