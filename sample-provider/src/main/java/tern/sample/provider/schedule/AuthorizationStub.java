package tern.sample.provider.schedule;

import java.util.Map;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Stands for somebody else's service, so that the sample needs nothing beside itself. */
@RestController
class AuthorizationStub {

    static final String PATH = "/authorization-stub";

    @GetMapping(PATH)
    Map<String, Boolean> decide(@RequestParam String tenant) {
        return Map.of("allowed", !tenant.startsWith("refused"));
    }
}
