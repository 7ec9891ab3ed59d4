package tern.sample.provider.schedule;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings of the schedule service and the simulated costs of a call. The costs are for load tests. The profiles
 * {@code round1} to {@code round5} combine them with the mistakes that docs/replay.md describes.
 */
@ConfigurationProperties("sample")
record ScheduleProperties(
        @DefaultValue Authorization authorization,
        @DefaultValue Redis redis,
        @DefaultValue Cost cost) {

    /**
     * @param url the address of the authorization service; by default the stub in this application
     * @param stubDelay response time of the stub
     */
    record Authorization(
            @Nullable String url, @DefaultValue("0ms") Duration stubDelay) {}

    /**
     * @param serial whether to send one GET for each agent in sequence instead of one MGET
     * @param reads number of times each GET is repeated, to simulate more keys
     */
    record Redis(
            @DefaultValue("false") boolean serial,
            @DefaultValue("1") int reads) {}

    /**
     * @param connections number of additional connections that each call borrows from the pool
     * @param logLines number of additional log lines of each call
     * @param bindTime time that the task after a call waits for another service
     */
    record Cost(
            @DefaultValue("0") int connections,
            @DefaultValue("0") int logLines,
            @DefaultValue("0ms") Duration bindTime) {}
}
