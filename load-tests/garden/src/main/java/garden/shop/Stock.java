package garden.shop;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;

@Component
class Stock {

    private final JdbcTemplate jdbc;

    Stock(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    int left(int id) {
        Integer left = jdbc.queryForObject("select quantity from stock where id = ?", Integer.class, id % 100);
        return left == null ? 0 : left;
    }

    void take(int id) {
        jdbc.update("update stock set quantity = quantity - 1 where id = ?", id % 100);
    }
}
