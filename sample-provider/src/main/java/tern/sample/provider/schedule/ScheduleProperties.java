package tern.sample.provider.schedule;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What the schedule service asks, and what a call costs. The costs are for load tests: each is what a service like this
 * one really has, and the profiles {@code round1} to {@code round5} put them together with the mistakes of a story.
 */
@ConfigurationProperties("sample")
record ScheduleProperties(
        @DefaultValue Authorization authorization,
        @DefaultValue Redis redis,
        @DefaultValue Cost cost) {

    /**
     * @param url where to ask; the stub in this application if missing
     * @param stubDelay how long the stub takes to decide
     */
    record Authorization(
            @Nullable String url, @DefaultValue("0ms") Duration stubDelay) {}

    /**
     * @param serial one GET for each agent, one after the other, instead of one MGET
     * @param reads how often each of these GETs is made, as when there were more keys
     */
    record Redis(
            @DefaultValue("false") boolean serial,
            @DefaultValue("1") int reads) {}

    /**
     * @param connections taken from the pool and given back in each call, beside those for its statements
     * @param logLines of each call, beside the two that tell what happened
     * @param bindTime how long the task that follows a call waits for somebody else
     */
    record Cost(
            @DefaultValue("0") int connections,
            @DefaultValue("0") int logLines,
            @DefaultValue("0ms") Duration bindTime) {}
}
