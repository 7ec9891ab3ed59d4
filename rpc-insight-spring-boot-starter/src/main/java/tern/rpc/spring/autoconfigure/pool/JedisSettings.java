package tern.rpc.spring.autoconfigure.pool;

import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import redis.clients.jedis.util.JedisURIHelper;
import tern.rpc.pool.Sizing;
import tern.rpc.settings.InvalidPropertyException;
import tern.rpc.settings.PropertyCheck;

/** The validated settings of the Jedis pool that works without Spring Data. */
record JedisSettings(URI address, int maxTotal, Duration maxWait, Duration connectTimeout, Duration readTimeout) {

    static final String PREFIX = "rpc.pools.jedis";

    private static final int MAX_CONNECTIONS = 10_000;

    static JedisSettings of(RpcPoolsProperties.Jedis properties, Sizing sizing) {
        Integer total = properties.maxTotal();
        Duration wait = properties.maxWait();
        return new JedisSettings(
                address(properties.url() == null ? "" : properties.url()),
                total == null
                        ? sizing.connections()
                        : PropertyCheck.between(PREFIX + ".max-total", total, 1, MAX_CONNECTIONS),
                wait == null ? sizing.redisWait() : PropertyCheck.moreThanZero(PREFIX + ".max-wait", wait),
                PropertyCheck.moreThanZero(PREFIX + ".connect-timeout", properties.connectTimeout()),
                PropertyCheck.moreThanZero(PREFIX + ".read-timeout", properties.readTimeout()));
    }

    private static URI address(String url) {
        try {
            URI address = new URI(url);
            if (JedisURIHelper.isValid(address)) {
                return address;
            }
        } catch (URISyntaxException e) {
            throw refused(e.getReason());
        }
        throw refused("host or port missing");
    }

    /**
     * Returns the exception for an invalid address. The message does not contain the address, which can include a
     * password.
     */
    private static InvalidPropertyException refused(String reason) {
        return new InvalidPropertyException(
                PREFIX + ".url", "no address (" + reason + ")", "redis://user:password@host:6379/0");
    }
}
