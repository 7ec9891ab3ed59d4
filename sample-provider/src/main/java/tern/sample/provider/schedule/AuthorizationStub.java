package tern.sample.provider.schedule;

import java.time.Duration;
import java.util.Map;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Simulates the authorization service, so that the sample runs without other services. */
@RestController
class AuthorizationStub {

    static final String PATH = "/authorization-stub";

    private final Duration delay;

    AuthorizationStub(ScheduleProperties properties) {
        this.delay = properties.authorization().stubDelay();
    }

    @GetMapping(PATH)
    Map<String, Boolean> decide(@RequestParam String tenant) throws InterruptedException {
        if (!delay.isZero()) {
            Thread.sleep(delay.toMillis());
        }
        return Map.of("allowed", !tenant.startsWith("refused"));
    }
}
