package plain;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.core.JdbcTemplate;

/** A web application with a database and without RPC. */
@SpringBootConfiguration
@EnableAutoConfiguration
public class ShopApplication {

    @Bean
    OrderController orders(JdbcTemplate database) {
        return new OrderController(database);
    }

    @Bean
    EventController events(JdbcTemplate database, ExecutorService workers) {
        return new EventController(database, workers);
    }

    @Bean
    StockController stock(JdbcTemplate database) {
        return new StockController(database);
    }

    @Bean
    ExecutorService workers() {
        return Executors.newFixedThreadPool(2);
    }
}
