package tern.sample.consumer.web;

import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import tern.rpc.load.LatencyReport;
import tern.sample.consumer.LoadRun;

/** The last run of the load mode, for the page at {@code /}. */
@RestController
class LoadController {

    private final LoadRun load;

    LoadController(LoadRun load) {
        this.load = load;
    }

    record LastRun(boolean passed, String verdict, LatencyReport report) {}

    /** No content before the first run has ended. */
    @GetMapping("/load")
    ResponseEntity<LastRun> lastRun() {
        LatencyReport report = load.report();
        return report == null
                ? ResponseEntity.noContent().build()
                : ResponseEntity.ok(new LastRun(report.passed(), report.verdict(), report));
    }
}
