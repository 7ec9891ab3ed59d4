package garden.run;

import java.util.List;

/** One way to run the shop. Faults with the same stand share a process. */
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
    /** Two HTTP connections to one host. */
    SMALL(
            false,
            false,
            "--spring.datasource.type=com.zaxxer.hikari.HikariDataSource",
            "--spring.datasource.hikari.maximum-pool-size=10",
            "--spring.data.redis.client-type=jedis",
            "--rpc.pools.http.max-total=64",
            "--rpc.pools.http.max-per-host=2"),
    /** Two connections to a database that is some milliseconds away. */
    TIGHT(
            false,
            false,
            "--spring.datasource.type=com.zaxxer.hikari.HikariDataSource",
            "--spring.datasource.hikari.maximum-pool-size=2",
            "--spring.data.redis.client-type=jedis"),
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

    @SuppressWarnings("ImmutableEnumChecker") // a list that cannot change
    private final List<String> settings;

    Stand(boolean java25, boolean web, String... settings) {
        this.java25 = java25;
        this.web = web;
        this.settings = List.of(settings);
    }

    /** Whether it needs JDK 21 or later. */
    boolean java25() {
        return java25;
    }

    /** Whether web requests are its calls. */
    boolean web() {
        return web;
    }

    List<String> settings() {
        return settings;
    }
}
