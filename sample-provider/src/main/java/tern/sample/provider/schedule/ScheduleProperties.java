package tern.sample.provider.schedule;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings of the schedule service, and the simulated costs of a call for load tests. The profiles {@code round1} to
 * {@code round5} combine these settings to reproduce the configuration errors described in docs/replay.md.
 */
@ConfigurationProperties("sample")
record ScheduleProperties(
        @DefaultValue Authorization authorization,
        @DefaultValue Redis redis,
        @DefaultValue Cost cost) {

    /**
     * @param url the address of the authorization service; by default the address of the stub in this application
     * @param stubDelay the response time of the stub
     */
    record Authorization(
            @Nullable String url, @DefaultValue("0ms") Duration stubDelay) {}

    /**
     * The settings for Redis commands.
     *
     * @param serial whether to send one GET for each agent, one after another, instead of one MGET
     * @param reads the number of times that each GET is repeated, to simulate more keys
     */
    record Redis(
            @DefaultValue("false") boolean serial,
            @DefaultValue("1") int reads) {}

    /**
     * The simulated costs.
     *
     * @param connections the number of additional connections that each call borrows from the pool
     * @param logLines the number of additional lines that each call logs
     * @param bindTime the time for which the task submitted by a call sleeps, to simulate a call to another service
     */
    record Cost(
            @DefaultValue("0") int connections,
            @DefaultValue("0") int logLines,
            @DefaultValue("0ms") Duration bindTime) {}
}
