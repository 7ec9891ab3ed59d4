package plain;

import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.springframework.http.HttpStatus;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

@RestController
public class OrderController {

    public final CountDownLatch held = new CountDownLatch(1);
    public final CountDownLatch release = new CountDownLatch(1);
    private final JdbcTemplate database;

    OrderController(JdbcTemplate database) {
        this.database = database;
    }

    @GetMapping("/orders/{id}")
    public String order(@PathVariable("id") int id) {
        return "order " + database.queryForObject("select " + id, Integer.class);
    }

    @GetMapping("/later/{id}")
    public Callable<String> later(@PathVariable("id") int id) {
        return () -> "later " + id;
    }

    @GetMapping("/broken")
    public String broken() {
        throw new ResponseStatusException(HttpStatus.SERVICE_UNAVAILABLE);
    }

    @GetMapping("/failing")
    public String failing() {
        throw new IllegalStateException("no order today");
    }

    @GetMapping("/held")
    public String held() throws InterruptedException {
        held.countDown();
        return "released " + release.await(60, TimeUnit.SECONDS);
    }
}
