package tern.sample.provider.schedule;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/** What the schedule service asks. */
@ConfigurationProperties("sample")
record ScheduleProperties(@DefaultValue Authorization authorization) {

    /** @param url where to ask; the stub in this application if missing */
    record Authorization(@Nullable String url) {}
}
