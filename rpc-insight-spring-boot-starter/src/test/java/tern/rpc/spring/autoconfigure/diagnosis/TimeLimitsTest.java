package tern.rpc.spring.autoconfigure.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import tern.rpc.Phase;
import tern.rpc.diagnosis.failure.TimeLimit;

class TimeLimitsTest {

    private static List<TimeLimit> limits(Map<String, Object> properties) {
        StandardEnvironment environment = new StandardEnvironment();
        environment.getPropertySources().addFirst(new MapPropertySource("test", properties));
        return TimeLimits.of(environment);
    }

    @Test
    void propertiesThatLimitOperationsAreFound() {
        assertThat(limits(Map.of(
                        "spring.http.clients.read-timeout",
                        "50ms",
                        "spring.http.serviceclient.stock.read-timeout",
                        "2s",
                        "spring.data.redis.timeout",
                        "30",
                        "spring.jdbc.template.query-timeout",
                        "5")))
                .containsExactly(
                        new TimeLimit(Phase.HTTP, "spring.http.clients.read-timeout", Duration.ofMillis(50)),
                        new TimeLimit(
                                Phase.HTTP, "spring.http.serviceclient.stock.read-timeout", Duration.ofSeconds(2)),
                        new TimeLimit(Phase.REDIS, "spring.data.redis.timeout", Duration.ofMillis(30)),
                        new TimeLimit(Phase.SQL, "spring.jdbc.template.query-timeout", Duration.ofSeconds(5)));
    }

    @Test
    void groupsWithAnUnknownPlaceholderAreIgnored() {
        assertThat(limits(Map.of(
                        "spring.http.serviceclient.stock.base-url",
                        "${stock.address.that.nobody.sets}",
                        "spring.data.redis.timeout",
                        "30")))
                .containsExactly(new TimeLimit(Phase.REDIS, "spring.data.redis.timeout", Duration.ofMillis(30)));
    }

    @Test
    void valuesThatAreNotPositiveDurationsAreIgnored() {
        assertThat(limits(Map.of(
                        "spring.http.clients.read-timeout",
                        "never",
                        "spring.data.redis.timeout",
                        "0",
                        "spring.transaction.default-timeout",
                        "-1")))
                .isEmpty();
    }
}
