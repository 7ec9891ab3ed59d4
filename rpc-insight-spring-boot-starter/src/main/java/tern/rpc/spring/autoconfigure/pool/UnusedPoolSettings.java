package tern.rpc.spring.autoconfigure.pool;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.util.ClassUtils;
import tern.rpc.pool.LoggingMode;

/**
 * Finds properties of pools and logging that have no effect, because a library is missing or because one of the
 * application's beans replaces the bean that they configure. Logs them in one warning at startup, because users would
 * not notice them otherwise.
 */
final class UnusedPoolSettings implements SmartInitializingSingleton {

    private static final Logger LOG = LoggerFactory.getLogger(UnusedPoolSettings.class);

    private static final String HTTP = "rpc.pools.http.";
    private static final String JEDIS = JedisSettings.PREFIX + ".";
    private static final String HTTP_FACTORY = "spring.http.clients.imperative.factory";

    private final ListableBeanFactory beans;
    private final SettingOrigins origins;
    private final BusinessPools executors;
    private final List<String> found = new ArrayList<>();

    UnusedPoolSettings(ListableBeanFactory beans, SettingOrigins origins, BusinessPools executors) {
        this.beans = beans;
        this.origins = origins;
        this.executors = executors;
    }

    @Override
    public void afterSingletonsInstantiated() {
        for (String name : executors.replaced()) {
            add(
                    "a bean of this name exists already",
                    BusinessPools.PREFIX + "." + name + ".",
                    "threads",
                    "queue-capacity",
                    "rejection");
        }
        addHttp();
        addJedis();
        addLogging();
        if (!found.isEmpty()) {
            LOG.warn("Settings without effect: {}", String.join("; ", found));
        }
    }

    private void addHttp() {
        String factory = origins.value(HTTP_FACTORY, String.class);
        if (!beans.containsBean("rpcHttpPoolCustomizer")) {
            addHttp("needs Apache HttpClient 5 and spring-boot-http-client on the class path");
        } else if (factory != null
                && !factory.toLowerCase(Locale.ROOT).replaceAll("[-_]", "").equals("httpcomponents")) {
            addHttp(HTTP_FACTORY + " is " + factory + ", not http-components");
        }
    }

    private void addHttp(String reason) {
        add(reason, HTTP, "max-total", "max-per-host", "max-wait");
    }

    private void addJedis() {
        if (!origins.isSet(JEDIS + "url")) {
            addJedis("needs rpc.pools.jedis.url");
        } else if (!beans.containsBean("rpcJedis")) {
            boolean jedis = ClassUtils.isPresent(
                    "redis.clients.jedis.UnifiedJedis", getClass().getClassLoader());
            addJedis(jedis ? "a bean of type UnifiedJedis exists already" : "needs Jedis on the class path");
        }
    }

    private void addJedis(String reason) {
        add(reason, JEDIS, "url", "max-total", "max-wait", "connect-timeout", "read-timeout");
    }

    private void addLogging() {
        LoggingMode mode = beans.getBeanProvider(LoggingWatch.class).stream()
                .map(LoggingWatch::mode)
                .findFirst()
                .orElse(LoggingMode.LOGBACK);
        if (Boolean.TRUE.equals(origins.value(AsyncLogging.PROPERTY, Boolean.class))
                && mode != LoggingMode.ASYNCHRONOUS) {
            String reason = switch (mode) {
                case NO_DISRUPTOR -> "needs com.lmax:disruptor on the class path";
                case OWN_CONFIGURATION -> "the application configures Log4j 2 itself";
                default -> "needs spring-boot-starter-log4j2";
            };
            found.add(AsyncLogging.PROPERTY + " (" + reason + ")");
        }
    }

    private void add(String reason, String prefix, String... names) {
        for (String name : names) {
            if (origins.isSet(prefix + name)) {
                found.add(prefix + name + " (" + reason + ")");
            }
        }
    }
}
