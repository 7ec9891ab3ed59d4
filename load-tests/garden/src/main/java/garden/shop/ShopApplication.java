package garden.shop;

import java.sql.SQLException;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.ComponentScan;
import org.springframework.context.annotation.ComponentScan.Filter;
import org.springframework.context.annotation.FilterType;

/** The application whose faults the diagnosis has to find. */
@SpringBootApplication
@ComponentScan(excludeFilters = @Filter(type = FilterType.ASSIGNABLE_TYPE, classes = RateDesk.class))
public class ShopApplication {

    public static ConfigurableApplicationContext start(String... arguments) {
        return SpringApplication.run(ShopApplication.class, arguments);
    }

    /** Releases the calls that wait for the gate of the basket. */
    public static void openGate(ConfigurableApplicationContext shop) {
        shop.getBean(Basket.class).open();
    }

    /** Closes the connections that the shop did not return to the pool. */
    public static void findLostConnections() throws SQLException {
        Stock.findLost();
    }

    /** Fills the heap up to this share; 0 frees it. */
    public static void memory(double share) {
        if (share > 0) {
            Basket.fill(share);
        } else {
            Basket.empty();
        }
    }
}
