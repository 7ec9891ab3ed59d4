package tern.rpc.spring.autoconfigure.pool;

import java.time.Duration;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManager;
import org.jspecify.annotations.Nullable;
import tern.rpc.pool.Sizing;
import tern.rpc.settings.InvalidPropertyException;
import tern.rpc.settings.PropertyCheck;

/**
 * The validated settings of HTTP clients. A value is null if the library's default remains. If the application sets
 * only the limit for all hosts, the limit per host gets the same value, because a lower limit per host would silently
 * reduce the total.
 */
record HttpPoolSettings(
        @Nullable Integer maxTotal,
        @Nullable Integer maxPerHost,
        @Nullable Duration maxWait) {

    static final String PREFIX = "rpc.pools.http";

    private static final int MAX_CONNECTIONS = 10_000;

    /** @param tuned whether values that the application does not set are derived from the target */
    static HttpPoolSettings of(RpcPoolsProperties.Http properties, Sizing sizing, boolean tuned) {
        Integer total = properties.maxTotal();
        Integer host = properties.maxPerHost();
        Duration wait = properties.maxWait();
        if (total != null) {
            PropertyCheck.between(PREFIX + ".max-total", total, 1, MAX_CONNECTIONS);
        }
        if (host != null) {
            PropertyCheck.between(PREFIX + ".max-per-host", host, 1, MAX_CONNECTIONS);
        }
        if (total != null && host != null && host > total) {
            throw new InvalidPropertyException(
                    PREFIX + ".max-per-host", host, "1 to " + total + ", which is " + PREFIX + ".max-total");
        }
        if (wait != null) {
            PropertyCheck.moreThanZero(PREFIX + ".max-wait", wait);
        }
        return tuned ? tuned(total, host, wait, sizing) : explicit(total, host, wait);
    }

    private static HttpPoolSettings tuned(
            @Nullable Integer total, @Nullable Integer host, @Nullable Duration wait, Sizing sizing) {
        int perHost = host != null ? host : total != null ? total : sizing.connectionsPerHost();
        return new HttpPoolSettings(
                total != null ? total : Math.max(perHost, sizing.connectionsToAllHosts()),
                perHost,
                wait == null ? sizing.httpWait() : wait);
    }

    private static HttpPoolSettings explicit(@Nullable Integer total, @Nullable Integer host, @Nullable Duration wait) {
        if (total == null && host != null) {
            // The library's default limit for all hosts must not reduce the limit per host.
            int atLeast = Math.max(host, PoolingHttpClientConnectionManager.DEFAULT_MAX_TOTAL_CONNECTIONS);
            return new HttpPoolSettings(atLeast, host, wait);
        }
        return new HttpPoolSettings(total, host != null ? host : total, wait);
    }
}
