package garden.blind;

import garden.shop.Carriers;
import garden.shop.Step;
import garden.shop.Switches;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionTemplate;

@Component
class Checkout implements Step {

    private final TransactionTemplate transactions;
    private final JdbcTemplate jdbc;
    private final Carriers carriers;

    Checkout(TransactionTemplate transactions, JdbcTemplate jdbc, Carriers carriers) {
        this.transactions = transactions;
        this.jdbc = jdbc;
        this.carriers = carriers;
    }

    @Override
    public void place(int id) {
        if (Switches.on("sql-6")) {
            settle(id, (int) Switches.level("sql-6"));
        }
    }

    private void settle(int id, int parcels) {
        transactions.executeWithoutResult(status -> {
            jdbc.queryForObject("select total from orders where id = ?", Integer.class, id % 100 + 1);
            for (int i = 0; i < parcels; i++) {
                carriers.quote(id + i);
            }
        });
    }
}
