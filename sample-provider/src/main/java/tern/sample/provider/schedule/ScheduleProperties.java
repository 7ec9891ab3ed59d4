package tern.sample.provider.schedule;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/** The pools of the schedule service that no other configuration knows. */
@ConfigurationProperties("sample")
record ScheduleProperties(
        @DefaultValue Authorization authorization,
        @DefaultValue Bind bind) {

    /**
     * @param url where to ask; the stub in this application if missing
     * @param connections for all hosts together, and as many for each: there is only one
     * @param maxWait how long a call may wait for a connection
     * @param timeout for connecting, and for the answer
     */
    record Authorization(
            @Nullable String url,
            @DefaultValue("100") int connections,
            @DefaultValue("100ms") Duration maxWait,
            @DefaultValue("1s") Duration timeout) {}

    /** @param queue tasks that wait for a thread; one more is refused */
    record Bind(
            @DefaultValue("8") int threads,
            @DefaultValue("1000") int queue) {}
}
