package tern.sample.provider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.alibaba.druid.pool.DruidDataSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.async.AsyncLoggerConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.web.client.RestClient;
import tern.rpc.spring.LocalRpcPort;
import tern.sample.api.Page;
import tern.sample.api.ScheduleException;
import tern.sample.api.ScheduleException.Reason;
import tern.sample.api.ScheduleRequest;
import tern.sample.api.ScheduleResult;
import tern.sample.api.ScheduleService;
import tern.sample.api.User;
import tern.sample.api.UserService;

/**
 * Tests the services with H2, a real Redis server and the authorization stub. The test calls the services in the same
 * process.
 */
@SpringBootTest(
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {
            "rpc.server.port=0",
            // The default timeouts of the sample application are too short for a slow machine.
            "spring.data.redis.timeout=30s",
            "spring.data.redis.connect-timeout=30s",
            "spring.http.clients.read-timeout=1m",
            "spring.http.clients.connect-timeout=30s"
        })
class ProviderTest {

    @Autowired
    private UserService users;

    @Autowired
    private ScheduleService schedule;

    @Autowired
    private JdbcClient jdbc;

    @Autowired
    private StringRedisTemplate redis;

    @Autowired
    private DruidDataSource druid;

    @Autowired
    private RedisConnectionFactory redisConnections;

    @Autowired
    @Qualifier("bind")
    private ThreadPoolExecutor bind;

    @LocalServerPort
    private int httpPort;

    @LocalRpcPort
    private int rpcPort;

    @TempDir
    private static Path folder;

    @DynamicPropertySource
    static void readyFile(DynamicPropertyRegistry properties) {
        properties.add("sample.ready-file", () -> folder.resolve("ready").toString());
    }

    @Test
    void readyFileNamesBothPorts() throws IOException {
        assertThat(folder.resolve("ready"))
                .hasContent("pid=" + ProcessHandle.current().pid() + "\nhttp.port=" + httpPort + "\nrpc.port=" + rpcPort
                        + "\n");
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files).hasSize(1);
        }
    }

    @Test
    void sampleUsersAreThereAndOthersAreNot() {
        assertThat(users.existUser("user1@tern.example")).isTrue();
        assertThat(users.existUser("user1001@tern.example")).isFalse();
    }

    @Test
    void userComesWithEveryField() {
        User user = users.getUser(7);

        assertThat(user).hasNoNullFieldsOrProperties();
        assertThat(user.getId()).isEqualTo(7);
        assertThat(user.getBirthday()).isEqualTo(LocalDate.of(1980, 1, 8));
        assertThat(user.getPermissions()).containsExactly(1, 2, 3, 5, 8, 13, 21, 34, 55, 89);
        assertThat(users.getUser(-1)).isNull();
    }

    @Test
    void createdUserCanBeReadAndItsAddressIsTaken() {
        User user = new User();
        user.setName("Ada");
        user.setEmail("ada@tern.example");

        assertThat(users.createUser(user)).isTrue();
        assertThat(users.createUser(user)).isFalse();

        assertThat(users.existUser("ada@tern.example")).isTrue();
        long id = jdbc.sql("select id from users where email = 'ada@tern.example'")
                .query(Long.class)
                .single();
        User read = users.getUser(id);
        assertThat(read.getName()).isEqualTo("Ada");
        assertThat(read.getBirthday()).isNull();
        assertThat(read.getPermissions()).isEmpty();
        assertThat(read.getCreateTime()).isNotNull();
    }

    @Test
    void pagesHoldFifteenUsersInOrder() {
        Page<User> page = users.listUser(2);

        assertThat(page.getPageNo()).isEqualTo(2);
        assertThat(page.getTotal()).isGreaterThanOrEqualTo(1_000);
        assertThat(page.getResult())
                .extracting(User::getId)
                .containsExactlyElementsOf(
                        IntStream.rangeClosed(16, 30).mapToObj(Long::valueOf).toList());
        assertThat(users.listUser(1_000_000).getResult()).isEmpty();
        assertThatThrownBy(() -> users.listUser(0)).hasMessage("pageNo is 0; the first page is 1");
    }

    @Test
    void scheduleComparesFortyAgentsAndCountsTheTask() throws Exception {
        ScheduleResult result = schedule.schedule(new ScheduleRequest("one", "north", "repair"));

        assertThat(result.candidates()).isEqualTo(40);
        assertThat(jdbc.sql("select agent_id from assignments where request_id = 'one'")
                        .query(Long.class)
                        .single())
                .isEqualTo(result.agentId());
        awaitBindTasks();
        assertThat(loadOf(result)).isEqualTo(result.load() + 1);
    }

    @Test
    void repeatedRequestIsWrittenOnce() throws Exception {
        ScheduleRequest request = new ScheduleRequest("twice", "north", "sales");

        ScheduleResult first = schedule.schedule(request);
        ScheduleResult second = schedule.schedule(request);

        assertThat(second.agentId()).isEqualTo(first.agentId());
        assertThat(jdbc.sql("select count(*) from assignments where request_id = 'twice'")
                        .query(Integer.class)
                        .single())
                .isEqualTo(1);
    }

    @Test
    void refusedTenantAndUnknownSkillAreNamed() {
        assertThatThrownBy(() -> schedule.schedule(new ScheduleRequest("r", "refused", "repair")))
                .isInstanceOfSatisfying(
                        ScheduleException.class, e -> assertThat(e.reason()).isEqualTo(Reason.TENANT_REFUSED));
        assertThatThrownBy(() -> schedule.schedule(new ScheduleRequest("s", "north", "juggling")))
                .isInstanceOfSatisfying(
                        ScheduleException.class, e -> assertThat(e.reason()).isEqualTo(Reason.NO_AGENT));
    }

    /** Waits until earlier tasks have ended. The barrier opens only when all threads of the pool are waiting at it. */
    private void awaitBindTasks() throws Exception {
        CyclicBarrier everyThread = new CyclicBarrier(bind.getCorePoolSize() + 1);
        for (int i = 0; i < bind.getCorePoolSize(); i++) {
            bind.submit(() -> everyThread.await(10, TimeUnit.SECONDS));
        }
        everyThread.await(10, TimeUnit.SECONDS);
    }

    private int loadOf(ScheduleResult result) {
        return Integer.parseInt(redis.opsForValue().get("agent:" + result.agentId() + ":load"));
    }

    @Test
    void poolsAreTheTunedOnes() {
        assertThat(druid.isUseUnfairLock()).isTrue();
        assertThat(druid.getMaxActive()).isEqualTo(50);
        assertThat(druid.getMaxWait()).isEqualTo(1_000);
        assertThat(druid.isPoolPreparedStatements()).isTrue();
        assertThat(redisConnections).isInstanceOf(JedisConnectionFactory.class);
        assertThat(((JedisConnectionFactory) redisConnections).getPoolConfig().getMaxTotal())
                .isEqualTo(50);
    }

    @Test
    void logLinesGoThroughTheRing() {
        LoggerContext context = (LoggerContext) LogManager.getContext(false);

        assertThat(context.getConfiguration().getRootLogger()).isInstanceOf(AsyncLoggerConfig.class);
        assertThat(context.getConfiguration().getConfigurationSource().getLocation())
                .contains("tern/rpc/spring/log4j2-async.xml");
    }

    @Test
    void everyPoolIsShownWithItsSettings() {
        RestClient http = RestClient.create("http://127.0.0.1:" + httpPort);

        assertThat(http.get().uri("/actuator/rpc/pools").retrieve().body(String.class))
                .contains("\"name\":\"druid\"")
                .contains("\"name\":\"jedis\"")
                .contains("\"name\":\"http\"")
                .contains("\"name\":\"bind\"")
                .contains("\"name\":\"workers\"")
                .contains("\"name\":\"log4j2\"")
                .contains("\"property\":\"spring.datasource.druid.max-active\",\"value\":\"50\",\"source\":\"TUNED\"");
    }

    @Test
    void metersAndHealthAreServed() {
        RestClient http = RestClient.create("http://127.0.0.1:" + httpPort);

        assertThat(http.get().uri("/actuator/health").retrieve().body(String.class))
                .contains("\"status\":\"UP\"");
        assertThat(http.get().uri("/actuator/prometheus").retrieve().body(String.class))
                .contains("rpc_pool_waiting{kind=\"executor\",pool=\"bind\"}");
    }
}
