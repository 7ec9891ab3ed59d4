package tern.rpc.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the pool sizes and maximum waits that are derived from the target rate and latency. */
class SizingTest {

    @ParameterizedTest
    @CsvSource({
        // The first columns are the rate, the latency target in ms and the number of workers. The other columns are the
        // expected numbers of database connections, HTTP connections per host, and HTTP connections to all hosts.
        "500, 100, 200, 50, 64, 200",
        "10, 100, 200, 8, 64, 200",
        "2000, 100, 200, 200, 200, 200",
        "2000, 1000, 300, 300, 300, 300",
        "500, 100, 4, 4, 64, 64",
        "1, 1, 1, 1, 64, 64",
    })
    void sizesFollowLittlesLaw(int qps, int millis, int workers, int connections, int perHost, int total) {
        Sizing sizing = new Sizing(new Goal(qps, Duration.ofMillis(millis)), workers);

        assertThat(sizing.connections()).isEqualTo(connections);
        assertThat(sizing.connectionsPerHost()).isEqualTo(perHost);
        assertThat(sizing.connectionsToAllHosts()).isEqualTo(total);
    }

    @ParameterizedTest
    @CsvSource({
        // The columns are the latency target and the maximum waits for JDBC, Redis and HTTP, all in ms.
        "100, 1000, 200, 1000",
        "20, 200, 40, 200",
        "1000, 1000, 200, 1000",
        "1, 10, 10, 10",
    })
    void waitsFollowTheTarget(int millis, int jdbc, int redis, int http) {
        Sizing sizing = new Sizing(new Goal(500, Duration.ofMillis(millis)), 200);

        assertThat(sizing.jdbcWait()).hasMillis(jdbc);
        assertThat(sizing.redisWait()).hasMillis(redis);
        assertThat(sizing.httpWait()).hasMillis(http);
    }

    @Test
    void goalOfZeroIsRefused() {
        assertThatThrownBy(() -> new Goal(0, Duration.ofMillis(100))).hasMessageContaining("0 calls/s");
        assertThatThrownBy(() -> new Goal(1, Duration.ZERO)).hasMessageContaining("more than 0");
    }
}
