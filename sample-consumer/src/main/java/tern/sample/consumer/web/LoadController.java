package tern.sample.consumer.web;

import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import tern.rpc.load.LatencyReport;
import tern.sample.consumer.LoadRun;

/** Shows the last run on the page {@code /}, and starts new runs. */
@RestController
class LoadController {

    private final LoadRun load;

    LoadController(LoadRun load) {
        this.load = load;
    }

    record LastRun(boolean passed, String verdict, LatencyReport report) {

        static LastRun of(LatencyReport report) {
            return new LastRun(report.passed(), report.verdict(), report);
        }
    }

    /** Returns the last run, or status 204 if no run has ended. */
    @GetMapping("/load")
    ResponseEntity<LastRun> lastRun() {
        LatencyReport report = load.report();
        return report == null ? ResponseEntity.noContent().build() : ResponseEntity.ok(LastRun.of(report));
    }

    /** Runs the load and responds when the run has ended. Responds with status 409 if another run is active. */
    @PostMapping("/load")
    LastRun run(@RequestParam double rate) throws InterruptedException {
        try {
            return LastRun.of(load.again(rate));
        } catch (IllegalStateException e) {
            throw new ResponseStatusException(HttpStatus.CONFLICT, e.getMessage(), e);
        } catch (IllegalArgumentException e) {
            throw new ResponseStatusException(HttpStatus.BAD_REQUEST, e.getMessage(), e);
        }
    }
}
