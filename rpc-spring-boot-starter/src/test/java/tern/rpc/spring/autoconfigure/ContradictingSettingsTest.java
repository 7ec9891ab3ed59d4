package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Tests that startup logs each pair of properties that contradict each other. */
@ExtendWith(OutputCaptureExtension.class)
class ContradictingSettingsTest {

    private static final String WARNING = "Settings that contradict each other: ";

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            rpc.server.threads=100,rpc.server.max-concurrency=50 | rpc.server.threads is 100, but rpc.server.max-concurrency admits only 50 calls at once
            rpc.server.max-concurrency=50,rpc.server.services.greeting-service.methods.greet.max-concurrency=60 | rpc.server.services.greeting-service.methods.greet.max-concurrency is 60, but rpc.server.max-concurrency admits only 50 calls at once
            rpc.limits.max-connections=10,rpc.limits.max-connections-per-host=100 | rpc.limits.max-connections-per-host is 100, but rpc.limits.max-connections accepts only 10 connections
            rpc.server.max-queue-wait=10s | rpc.server.max-queue-wait is 10s, but a call that waits longer than 100ms misses rpc.slo.latency
            rpc.slo.latency=5s,rpc.client.timeout=3s | rpc.slo.latency is 5s, but calls of this application end after 3s (rpc.client.timeout)
            rpc.client.timeout=50ms | rpc.slo.latency is 100ms, but calls of this application end after 50ms (rpc.client.timeout)
            rpc.server.idle-timeout=30s | rpc.server.idle-timeout is 30s, but clients with these settings keep a connection open by a heartbeat only every 60s (rpc.client.heartbeat)
            spring.lifecycle.timeout-per-shutdown-phase=2s | spring.lifecycle.timeout-per-shutdown-phase is 2s, but the RPC server waits for running calls for at most 5s (rpc.server.shutdown-timeout)
            rpc.client.heartbeat=5m | rpc.server.idle-timeout is 180s, but clients with these settings keep a connection open by a heartbeat only every 300s (rpc.client.heartbeat)
            """)
    void propertiesThatContradictEachOtherAreNamed(String properties, String message, CapturedOutput output) {
        provider(Greeter.class)
                .withPropertyValues(properties.split(","))
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output).contains(WARNING + message);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "rpc.slo.latency=20ms",
                "rpc.limits.max-connections=10",
                "rpc.server.max-concurrency=50",
                "rpc.server.max-queue-wait=100ms",
                "rpc.client.timeout=200ms",
                "rpc.server.idle-timeout=61s"
            })
    void propertyThatOnlyADefaultExceedsIsNotNamed(String property, CapturedOutput output) {
        provider(Greeter.class)
                .withPropertyValues(property)
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output).doesNotContain(WARNING);
    }
}
