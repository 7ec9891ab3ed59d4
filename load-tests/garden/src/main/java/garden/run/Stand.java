package garden.run;

import java.util.List;

/** A configuration of the shop application. Faults with the same configuration are injected into the same process. */
public enum Stand {
    DRUID(
            false,
            false,
            "--spring.datasource.type=com.alibaba.druid.pool.DruidDataSource",
            "--spring.data.redis.client-type=jedis"),
    HIKARI(
            false,
            false,
            "--spring.datasource.type=com.zaxxer.hikari.HikariDataSource",
            "--spring.datasource.hikari.maximum-pool-size=10",
            "--spring.data.redis.client-type=lettuce"),
    /** The shop application may open at most two HTTP connections to one host. */
    SMALL(
            false,
            false,
            "--spring.datasource.type=com.zaxxer.hikari.HikariDataSource",
            "--spring.datasource.hikari.maximum-pool-size=10",
            "--spring.data.redis.client-type=jedis",
            "--rpc.pools.http.max-total=64",
            "--rpc.pools.http.max-per-host=2"),
    /**
     * The shop application may open at most two connections to its database, which takes a few milliseconds to answer.
     */
    TIGHT(
            false,
            false,
            "--spring.datasource.type=com.zaxxer.hikari.HikariDataSource",
            "--spring.datasource.hikari.maximum-pool-size=2",
            "--spring.data.redis.client-type=jedis"),
    /** The shop application logs with Log4j 2, and each call's thread writes its log lines itself. */
    LOG4J(
            false,
            false,
            "--spring.datasource.type=com.alibaba.druid.pool.DruidDataSource",
            "--spring.data.redis.client-type=lettuce",
            "--rpc.logging.async=false"),
    VIRTUAL(
            true,
            false,
            "--spring.datasource.type=com.zaxxer.hikari.HikariDataSource",
            "--spring.datasource.hikari.maximum-pool-size=10",
            "--spring.data.redis.client-type=jedis",
            "--spring.threads.virtual.enabled=true"),
    WEB(
            false,
            true,
            "--spring.datasource.type=com.alibaba.druid.pool.DruidDataSource",
            "--spring.data.redis.client-type=jedis",
            "--rpc.server.enabled=false",
            "--server.tomcat.threads.max=40");

    private final boolean java25;
    private final boolean web;

    @SuppressWarnings("ImmutableEnumChecker") // The field "settings" is an immutable list, so the enum is immutable.
    private final List<String> settings;

    Stand(boolean java25, boolean web, String... settings) {
        this.java25 = java25;
        this.web = web;
        this.settings = List.of(settings);
    }

    /** Returns whether this configuration needs JDK 21 or later. */
    boolean java25() {
        return java25;
    }

    /** Returns whether calls are web requests in this configuration. */
    boolean web() {
        return web;
    }

    /**
     * Returns whether the shop application needs the given file on its class path. The shop supports two logging
     * libraries, and a configuration needs only the files of the library that it uses.
     */
    boolean uses(String jar) {
        return this == LOG4J
                ? !jar.startsWith("logback-") && !jar.startsWith("log4j-to-slf4j")
                : !jar.startsWith("log4j-core") && !jar.startsWith("log4j-slf4j2") && !jar.startsWith("log4j-jul");
    }

    List<String> settings() {
        return settings;
    }
}
