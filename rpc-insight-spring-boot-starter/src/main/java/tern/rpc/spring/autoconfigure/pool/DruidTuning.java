package tern.rpc.spring.autoconfigure.pool;

import com.alibaba.druid.pool.DruidDataSource;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tern.rpc.pool.Sizing;
import tern.rpc.settings.InvalidPropertyException;
import tern.rpc.settings.PropertyCheck;

/**
 * Settings that make a Druid pool fail fast, open all connections at startup, and avoid unnecessary wake-ups of
 * threads.
 */
final class DruidTuning {

    static final String PREFIX = "spring.datasource.druid";

    private static final String MARIADB = "jdbc:mariadb:";

    private static final int MAX_CONNECTIONS = 10_000;
    private static final int STATEMENTS_PER_CONNECTION = 20;
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(1);
    private static final Duration READ_TIMEOUT = Duration.ofSeconds(5);

    private final Sizing sizing;
    private final SettingOrigins origins;

    DruidTuning(Sizing sizing, SettingOrigins origins) {
        this.sizing = sizing;
        this.origins = origins;
    }

    /** Applies the settings. Must be called before the pool's {@code init} method. */
    void apply(DruidDataSource pool) {
        pool.setName("druid");
        if (origins.isTuned()) {
            tune(pool);
        }
        origins.bind(PREFIX, pool);
        check(pool);
        if (String.valueOf(pool.getUrl()).startsWith(MARIADB)) {
            setInDriver(pool, "connectTimeout", pool.getConnectTimeout());
            setInDriver(pool, "socketTimeout", pool.getSocketTimeout());
        }
    }

    private void tune(DruidDataSource pool) {
        Integer wanted = number("max-active");
        int max = wanted == null
                ? Math.max(sizing.connections(), atLeastZero("min-idle"))
                : PropertyCheck.between(PREFIX + ".max-active", wanted, 1, MAX_CONNECTIONS);
        Integer idle = number("min-idle");
        int minIdle = idle == null ? Math.min(max, sizing.connections()) : idle;
        pool.setMaxActive(max);
        pool.setMinIdle(minIdle);
        pool.setInitialSize(minIdle);
        pool.setMaxWait(sizing.jdbcWait().toMillis());
        pool.setConnectTimeout((int) CONNECT_TIMEOUT.toMillis());
        pool.setSocketTimeout((int) READ_TIMEOUT.toMillis());
        pool.setUseUnfairLock(true); // true is the default of this Druid version, but a later version might change it
        pool.setKeepAlive(true);
        pool.setPoolPreparedStatements(true);
        pool.setMaxPoolPreparedStatementPerConnectionSize(STATEMENTS_PER_CONNECTION);
        pool.setValidationQuery("SELECT 1");
        pool.setTestWhileIdle(true);
        logTimeouts();
    }

    private void logTimeouts() {
        TunedTimeouts tuned = new TunedTimeouts();
        if (!origins.isSet(PREFIX + ".connect-timeout")) {
            tuned.add(PREFIX + ".connect-timeout", CONNECT_TIMEOUT);
        }
        if (!origins.isSet(PREFIX + ".socket-timeout")) {
            tuned.add(PREFIX + ".socket-timeout", READ_TIMEOUT);
        }
        tuned.log("Druid");
    }

    /**
     * Sets a timeout in the driver's connection properties. For other drivers, Druid itself sets the timeouts. Timeouts
     * that the URL or the connection properties already contain are kept.
     */
    private static void setInDriver(DruidDataSource pool, String name, int millis) {
        boolean said = pool.getUrl().contains(name + '=')
                || pool.getConnectProperties().containsKey(name);
        if (millis > 0 && !said) {
            pool.addConnectionProperty(name, String.valueOf(millis));
        }
    }

    private static void check(DruidDataSource pool) {
        int max = PropertyCheck.between(PREFIX + ".max-active", pool.getMaxActive(), 1, MAX_CONNECTIONS);
        PropertyCheck.between(PREFIX + ".min-idle", pool.getMinIdle(), 0, max);
        PropertyCheck.between(PREFIX + ".initial-size", pool.getInitialSize(), 0, max);
        if (pool.getMaxWait() < -1) {
            throw new InvalidPropertyException(PREFIX + ".max-wait", pool.getMaxWait(), "-1 or more milliseconds");
        }
        PropertyCheck.atLeast(PREFIX + ".connect-timeout", pool.getConnectTimeout(), 0);
        PropertyCheck.atLeast(PREFIX + ".socket-timeout", pool.getSocketTimeout(), 0);
    }

    private int atLeastZero(String property) {
        Integer value = number(property);
        return value == null ? 0 : PropertyCheck.between(PREFIX + "." + property, value, 0, MAX_CONNECTIONS);
    }

    private @Nullable Integer number(String property) {
        return origins.value(PREFIX + "." + property, Integer.class);
    }
}
