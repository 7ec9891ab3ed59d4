package tern.rpc.spring.autoconfigure.diagnosis;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.env.Environment;
import tern.rpc.Phase;
import tern.rpc.diagnosis.failure.TimeLimit;

/** Finds the properties of Spring Boot that limit how long operations may take. */
final class TimeLimits {

    private static final String GROUPS = "spring.http.serviceclient";
    private static final String READ_TIMEOUT = ".read-timeout";

    private final Binder binder;
    private final List<TimeLimit> limits = new ArrayList<>();

    private TimeLimits(Environment environment) {
        this.binder = Binder.get(environment);
    }

    /** Returns the limits that the application sets. Ignores values that are not durations. */
    static List<TimeLimit> of(Environment environment) {
        TimeLimits limits = new TimeLimits(environment);
        limits.add(Phase.HTTP, "spring.http.clients" + READ_TIMEOUT, ChronoUnit.MILLIS);
        limits.groups()
                .forEach(group -> limits.add(Phase.HTTP, GROUPS + "." + group + READ_TIMEOUT, ChronoUnit.MILLIS));
        limits.add(Phase.REDIS, "spring.data.redis.timeout", ChronoUnit.MILLIS);
        limits.add(Phase.REDIS, "rpc.pools.jedis" + READ_TIMEOUT, ChronoUnit.MILLIS);
        limits.add(Phase.SQL, "spring.jdbc.template.query-timeout", ChronoUnit.SECONDS);
        limits.add(Phase.SQL, "spring.transaction.default-timeout", ChronoUnit.SECONDS);
        limits.add(Phase.SQL, "spring.datasource.druid.query-timeout", ChronoUnit.SECONDS);
        limits.add(Phase.SQL, "spring.datasource.druid.socket-timeout", ChronoUnit.MILLIS);
        return List.copyOf(limits.limits);
    }

    private Set<String> groups() {
        try {
            return binder.bind(GROUPS, Bindable.mapOf(String.class, Object.class))
                    .orElse(Map.of())
                    .keySet();
        } catch (RuntimeException e) {
            return Set.of(); // A value in one of the property groups contains an unknown placeholder.
        }
    }

    private void add(Phase kind, String property, ChronoUnit unit) {
        String value = value(property);
        Duration limit = value.isEmpty() ? Duration.ZERO : duration(value, unit);
        if (!limit.isZero() && !limit.isNegative()) {
            limits.add(new TimeLimit(kind, property, limit));
        }
    }

    private String value(String property) {
        try {
            return binder.bind(property, Bindable.of(String.class)).orElse("");
        } catch (RuntimeException e) {
            return ""; // the name of a group is not a valid part of a property name, or a placeholder is unknown
        }
    }

    private static Duration duration(String value, ChronoUnit unit) {
        try {
            return DurationStyle.detectAndParse(value.strip(), unit);
        } catch (IllegalArgumentException e) {
            return Duration.ZERO;
        }
    }
}
