package plain;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import org.springframework.http.MediaType;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.async.DeferredResult;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** A controller whose requests wait for events or run on other threads. */
@RestController
public class EventController {

    public final CountDownLatch held = new CountDownLatch(1);
    public final CountDownLatch release = new CountDownLatch(1);
    public volatile DeferredResult<String> next = new DeferredResult<>();

    private final JdbcTemplate database;
    private final ExecutorService workers;

    EventController(JdbcTemplate database, ExecutorService workers) {
        this.database = database;
        this.workers = workers;
    }

    @GetMapping("/poll")
    public DeferredResult<String> poll() {
        DeferredResult<String> result = new DeferredResult<>();
        next = result;
        return result;
    }

    @GetMapping(path = "/events", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
    public Flux<String> events() {
        return Flux.just("one", "two");
    }

    @GetMapping("/handed")
    public CompletableFuture<String> handed() {
        return CompletableFuture.supplyAsync(
                () -> "handed " + database.queryForObject("select 17", Integer.class), workers);
    }

    @GetMapping("/elastic")
    public Mono<String> elastic() {
        return Mono.fromCallable(() -> "elastic " + database.queryForObject("select 17", Integer.class))
                .subscribeOn(Schedulers.boundedElastic());
    }

    @GetMapping("/hold")
    public String hold() throws InterruptedException {
        held.countDown();
        return "released " + release.await(60, TimeUnit.SECONDS);
    }
}
