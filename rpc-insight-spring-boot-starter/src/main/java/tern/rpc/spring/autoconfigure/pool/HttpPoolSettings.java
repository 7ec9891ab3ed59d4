package tern.rpc.spring.autoconfigure.pool;

import java.time.Duration;
import tern.rpc.pool.Sizing;
import tern.rpc.settings.InvalidPropertyException;
import tern.rpc.settings.PropertyCheck;

/**
 * The validated settings of HTTP clients. If the application sets only the limit for all hosts, the limit per host gets
 * the same value. Otherwise a lower limit per host would silently reduce the total.
 */
record HttpPoolSettings(int maxTotal, int maxPerHost, Duration maxWait) {

    static final String PREFIX = "rpc.pools.http";

    private static final int MAX_CONNECTIONS = 10_000;

    static HttpPoolSettings of(RpcPoolsProperties.Http properties, Sizing sizing) {
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
        int perHost = host != null ? host : total != null ? total : sizing.connectionsPerHost();
        return new HttpPoolSettings(
                total != null ? total : Math.max(perHost, sizing.connectionsToAllHosts()),
                perHost,
                wait == null ? sizing.httpWait() : PropertyCheck.moreThanZero(PREFIX + ".max-wait", wait));
    }
}
