package garden.open;

import garden.shop.Step;
import garden.shop.Switches;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;

@Component
class Reports implements Step {

    private final JdbcTemplate jdbc;

    Reports(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    @Override
    public void place(int id) {
        double level = Switches.level("table-2");
        if (level > 0) {
            jdbc.queryForObject(
                    "select total + tax(?) from orders where id = ?", Integer.class, (int) level, id % 100 + 1);
        }
    }

    @Override
    public void history(int id) {
        double level = Switches.level("sql-1");
        if (level > 0) {
            monthly((int) level);
        }
    }

    private void monthly(int orders) {
        jdbc.queryForObject(
                "select count(*) from orders a join orders b on a.total + 1 = b.total + b.customer where a.id <= ?",
                Integer.class,
                orders);
    }
}
