package tern.rpc.waiting;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.support.ConnectionPoolSupport;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import org.apache.commons.pool2.impl.GenericObjectPool;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.apache.hc.client5.http.classic.methods.HttpGet;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManagerBuilder;
import org.asynchttpclient.AsyncHttpClient;
import org.asynchttpclient.Dsl;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPool;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisClientConfig;

/** Threads that really wait in clients of Redis and HTTP, or in their pools. */
@Timeout(90)
class PeersThatDoNotAnswerTest {

    private static final String HOST = "127.0.0.1";
    private static final int LONG_MILLIS = 600_000;

    private final SilentServer redis = SilentServer.ofRedis();
    private final SilentServer http = SilentServer.open();

    @AfterEach
    void close() {
        redis.close();
        http.close();
    }

    private JedisClientConfig jedisConfig() {
        return DefaultJedisClientConfig.builder()
                .socketTimeoutMillis(LONG_MILLIS)
                .build();
    }

    private URI uri() {
        return URI.create("http://" + HOST + ":" + http.port() + "/");
    }

    @Test
    void jedisWhoseCommandHasNoAnswer() {
        try (Blocked blocked = new Blocked(() -> {
            try (Jedis jedis = new Jedis(new HostAndPort(HOST, redis.port()), jedisConfig())) {
                return jedis.get("key");
            }
        })) {
            assertThat(blocked.waitsFor("Redis: answer (Jedis)").change()).contains("MGET");
        }
    }

    @Test
    void jedisThatHasNoConnectionLeft() {
        GenericObjectPoolConfig<Connection> one = new GenericObjectPoolConfig<>();
        one.setMaxTotal(1);

        try (ConnectionPool pool = new ConnectionPool(new HostAndPort(HOST, redis.port()), jedisConfig(), one);
                Connection taken = pool.getResource();
                Blocked blocked = new Blocked(pool::getResource)) {
            assertThat(taken.isConnected()).isTrue();
            assertThat(blocked.wait(false))
                    .isEqualTo(new Wait("Jedis: get connection", "spring.data.redis.jedis.pool.max-active"));
        }
    }

    @Test
    void lettuceWhoseCommandHasNoAnswer() {
        RedisClient client = lettuce();
        try (StatefulRedisConnection<String, String> connection = client.connect()) {
            RedisCommands<String, String> commands = connection.sync();

            try (Blocked blocked = new Blocked(() -> commands.get("key"))) {
                assertThat(blocked.wait(false).resource()).isEqualTo("Redis: answer (Lettuce)");
            }
        } finally {
            client.shutdown(Duration.ZERO, Duration.ofSeconds(5));
        }
    }

    @Test
    void lettuceThatHasNoConnectionLeft() throws Exception {
        RedisClient client = lettuce();
        GenericObjectPoolConfig<StatefulRedisConnection<String, String>> one = new GenericObjectPoolConfig<>();
        one.setMaxTotal(1);
        try (GenericObjectPool<StatefulRedisConnection<String, String>> pool =
                ConnectionPoolSupport.createGenericObjectPool(client::connect, one)) {
            pool.borrowObject();

            try (Blocked blocked = new Blocked(pool::borrowObject)) {
                assertThat(blocked.wait(false).resource()).isEqualTo("Lettuce: get connection");
            }
        } finally {
            client.shutdown(Duration.ZERO, Duration.ofSeconds(5));
        }
    }

    private RedisClient lettuce() {
        RedisClient client = RedisClient.create(RedisURI.builder()
                .withHost(HOST)
                .withPort(redis.port())
                .withTimeout(Duration.ofMillis(LONG_MILLIS))
                .build());
        client.setOptions(ClientOptions.builder()
                .protocolVersion(ProtocolVersion.RESP2)
                .pingBeforeActivateConnection(false)
                .build());
        return client;
    }

    @Test
    void httpClientWhosePeerDoesNotAnswerAndItsPoolBehindIt() throws IOException {
        try (CloseableHttpClient client = HttpClients.custom()
                .setConnectionManager(PoolingHttpClientConnectionManagerBuilder.create()
                        .setMaxConnPerRoute(1)
                        .build())
                .build()) {
            try (Blocked first = new Blocked(() -> client.execute(new HttpGet(uri()), answer -> null))) {
                assertThat(first.waitsFor("HTTP: answer (HttpClient)").change()).startsWith("the peer");

                try (Blocked second = new Blocked(() -> client.execute(new HttpGet(uri()), answer -> null))) {
                    assertThat(second.wait(false))
                            .isEqualTo(new Wait("HttpClient: get connection", "rpc.pools.http.max-per-host"));
                }
            }
            http.close(); // ends the exchange, and with it the lease
        }
    }

    @Test
    void clientOfTheJdkWhosePeerDoesNotAnswer() {
        HttpClient client = HttpClient.newHttpClient();

        try (Blocked blocked =
                new Blocked(() -> client.send(HttpRequest.newBuilder(uri()).build(), BodyHandlers.ofString()))) {
            assertThat(blocked.wait(false).resource()).isEqualTo("HTTP: answer (JDK client)");
        }
    }

    @Test
    void asyncHttpClientWhosePeerDoesNotAnswer() throws IOException {
        try (AsyncHttpClient client = Dsl.asyncHttpClient();
                Blocked blocked = new Blocked(
                        () -> client.prepareGet(uri().toString()).execute().get())) {
            assertThat(blocked.wait(false).resource()).isEqualTo("HTTP: answer (async-http-client)");
        }
    }

    @Test
    void asyncHttpClientThatHasNoConnectionLeft() throws IOException {
        try (AsyncHttpClient client = Dsl.asyncHttpClient(
                Dsl.config().setMaxConnectionsPerHost(1).setAcquireFreeChannelTimeout(LONG_MILLIS))) {
            client.prepareGet(uri().toString()).execute();

            try (Blocked blocked =
                    new Blocked(() -> client.prepareGet(uri().toString()).execute())) {
                assertThat(blocked.wait(false).resource()).isEqualTo("async-http-client: get connection");
            }
        }
    }
}
