package tern.rpc.spring.autoconfigure.pool;

import java.time.Duration;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.data.redis.autoconfigure.DataRedisProperties;
import org.springframework.boot.data.redis.autoconfigure.DataRedisProperties.Pool;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;
import tern.rpc.pool.Sizing;
import tern.rpc.settings.PropertyCheck;

/**
 * Sets Tern's values in Boot's Redis properties before Boot creates the pool. Properties that the application sets take
 * precedence.
 */
final class JedisTuning implements BeanPostProcessor {

    static final String PREFIX = "spring.data.redis";
    static final String POOL = PREFIX + ".jedis.pool";
    static final Duration CONNECT_TIMEOUT = Duration.ofMillis(200);
    static final Duration READ_TIMEOUT = Duration.ofMillis(500);

    private static final int MAX_CONNECTIONS = 10_000;
    private static final String LETTUCE = "io.lettuce.core.RedisClient";

    private final ObjectProvider<Sizing> sizing;
    private final ObjectProvider<SettingOrigins> origins;
    private final Environment environment;

    JedisTuning(ObjectProvider<Sizing> sizing, ObjectProvider<SettingOrigins> origins, Environment environment) {
        this.sizing = sizing;
        this.origins = origins;
        this.environment = environment;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        if (bean instanceof DataRedisProperties properties && isJedis()) {
            tune(properties, origins.getObject(), sizing.getObject());
        }
        return bean;
    }

    /**
     * Returns whether Boot uses Jedis. If both Jedis and Lettuce are present and neither is configured, Boot uses
     * Lettuce.
     */
    private boolean isJedis() {
        String type = environment.getProperty(PREFIX + ".client-type");
        return type == null
                ? !ClassUtils.isPresent(LETTUCE, JedisTuning.class.getClassLoader())
                : type.equalsIgnoreCase("jedis");
    }

    private static void tune(DataRedisProperties properties, SettingOrigins user, Sizing sizing) {
        Pool pool = properties.getJedis().getPool();
        if (!user.isSet(POOL + ".max-active")) {
            pool.setMaxActive(sizing.connections());
        } else if (pool.getMaxActive() >= 0) {
            PropertyCheck.between(POOL + ".max-active", pool.getMaxActive(), 1, MAX_CONNECTIONS);
        }
        int max = pool.getMaxActive() < 0 ? sizing.connections() : pool.getMaxActive();
        if (!user.isSet(POOL + ".max-idle")) {
            pool.setMaxIdle(max); // Idle connections are not closed, so that later calls can use them.
        }
        if (!user.isSet(POOL + ".min-idle")) {
            pool.setMinIdle(Math.min(max, pool.getMaxIdle()) / 4);
        }
        PropertyCheck.between(POOL + ".min-idle", pool.getMinIdle(), 0, max);
        if (!user.isSet(POOL + ".max-wait")) {
            pool.setMaxWait(sizing.redisWait());
        }
        TunedTimeouts tuned = new TunedTimeouts();
        if (!user.isSet(PREFIX + ".connect-timeout")) {
            properties.setConnectTimeout(CONNECT_TIMEOUT);
            tuned.add(PREFIX + ".connect-timeout", CONNECT_TIMEOUT);
        }
        if (!user.isSet(PREFIX + ".timeout")) {
            properties.setTimeout(READ_TIMEOUT);
            tuned.add(PREFIX + ".timeout", READ_TIMEOUT);
        }
        tuned.log("Jedis");
    }
}
