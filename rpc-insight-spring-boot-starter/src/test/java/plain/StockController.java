package plain;

import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** A controller that handles its own exceptions. */
@RestController
public class StockController {

    private final JdbcTemplate database;

    StockController(JdbcTemplate database) {
        this.database = database;
    }

    @GetMapping("/stock/count")
    public String count() {
        return "stock " + database.queryForObject("select count(*) from no_such_table", Integer.class);
    }

    @GetMapping("/stock/closed")
    public String closed() {
        throw new IllegalStateException("no stock today");
    }

    @GetMapping("/stock/error")
    public ResponseEntity<String> error() {
        return ResponseEntity.internalServerError().body("no stock");
    }

    @GetMapping("/stock/limited")
    public String limited() {
        throw new UnsupportedOperationException("too many requests");
    }

    @ExceptionHandler
    ResponseEntity<String> failed(Exception failure) {
        return ResponseEntity.status(failure instanceof IllegalStateException ? 500 : 503)
                .body("no stock");
    }
}
