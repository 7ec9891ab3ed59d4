package tern.sample.consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.web.client.RestClient;
import tern.rpc.spring.RpcService;
import tern.sample.api.EchoService;
import tern.sample.api.Page;
import tern.sample.api.Person;
import tern.sample.api.ScheduleException;
import tern.sample.api.ScheduleRequest;
import tern.sample.api.ScheduleResult;
import tern.sample.api.ScheduleService;
import tern.sample.api.User;
import tern.sample.api.UserService;

/**
 * Tests the whole application and the load that it generates. The provider is a second application in the same process.
 * The provider starts before the consumer and stores nothing.
 */
@SpringBootTest(
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {
            "load.rate=200",
            "load.warm-up=100ms",
            "load.duration=500ms",
            // Even a slow machine meets a latency target of one minute.
            "load.target-latency=1m",
            "rpc.client.timeout=1m"
        })
class ConsumerTest {

    @TempDir
    private static Path folder;

    @LocalServerPort
    private int port;

    @Autowired
    private LoadRun load;

    private static ConfigurableApplicationContext provider;

    @DynamicPropertySource
    static void properties(DynamicPropertyRegistry properties) {
        provider = new SpringApplicationBuilder(Provider.class)
                .web(WebApplicationType.NONE)
                .properties("rpc.server.port=0", "rpc.server.max-queue-wait=1m")
                .run();
        String rpcPort = provider.getEnvironment().getProperty("local.rpc.port");
        properties.add("rpc.client.url", () -> "127.0.0.1:" + rpcPort);
        properties.add("sample.ready-file", () -> folder.resolve("ready").toString());
        properties.add("load.report-file", () -> folder.resolve("report").toString());
        properties.add("load.result-file", () -> folder.resolve("result").toString());
    }

    @AfterAll
    static void stopProvider() {
        provider.close();
    }

    @Test
    void requestsBecomeCalls() {
        RestClient http = http();

        assertThat(http.get().uri("/users/7").retrieve().body(User.class)).isEqualTo(SampleProvider.user(7));
        assertThat(http.get()
                        .uri("/users/exists?email={email}", "user7@tern.example")
                        .retrieve()
                        .body(Map.class))
                .isEqualTo(Map.of("exists", true));
        assertThat(http.post()
                        .uri("/echo")
                        .contentType(MediaType.TEXT_PLAIN)
                        .body("hello")
                        .retrieve()
                        .body(String.class))
                .isEqualTo("hello");
    }

    @Test
    void declaredExceptionArrivesTyped() {
        HttpStatus status = http().post()
                .uri("/schedule")
                .contentType(MediaType.APPLICATION_JSON)
                .body(Map.of("tenant", "refused", "skill", "repair"))
                .exchange((request, response) ->
                        HttpStatus.valueOf(response.getStatusCode().value()));

        assertThat(status).isEqualTo(HttpStatus.FORBIDDEN);
    }

    @Test
    void loadModeDrivesTheMixAndReports() throws Exception {
        boolean passed = load.run();

        assertThat(load.report().errors()).isEmpty();
        assertThat(passed).isTrue();
        assertThat(load.report().total().calls()).isEqualTo(100);
        assertThat(load.report().rows())
                .allSatisfy(row -> assertThat(row.calls()).isPositive());
        assertThat(folder.resolve("report")).content().contains("ScheduleService.schedule", "PASS: 200.0 QPS");
        assertThat(folder.resolve("result")).hasContent("PASS\n");

        ResponseEntity<String> last = http().get().uri("/load").retrieve().toEntity(String.class);
        assertThat(last.getBody()).contains("\"passed\":true", "EchoService.echo(Person)");
    }

    @Test
    void loadCanBeStartedOverHttp() {
        ResponseEntity<String> run =
                http().post().uri("/load?rate=100").retrieve().toEntity(String.class);

        assertThat(run.getBody()).contains("\"verdict\":\"PASS: ", "\"rate\":100.0", "\"distribution\":[{");
        assertThatThrownBy(() -> http().post().uri("/load?rate=-1").retrieve().toBodilessEntity())
                .hasMessageContaining("400");
    }

    @Test
    void readyFileAndPageAreThere() throws IOException {
        assertThat(Files.readAllLines(folder.resolve("ready"))).contains("http.port=" + port);
        assertThat(http().get().uri("/").retrieve().body(String.class)).contains("Sample consumer");
    }

    private RestClient http() {
        return RestClient.create("http://127.0.0.1:" + port);
    }

    @EnableAutoConfiguration
    static class Provider {

        @Bean
        @RpcService
        SampleProvider sampleProvider() {
            return new SampleProvider();
        }
    }

    static final class SampleProvider implements UserService, EchoService, ScheduleService {

        private final Map<String, User> created = new ConcurrentHashMap<>();

        static User user(long id) {
            User user = new User();
            user.setId(id);
            user.setEmail("user" + id + "@tern.example");
            return user;
        }

        @Override
        public boolean existUser(String email) {
            return Integer.parseInt(email.substring("user".length(), email.indexOf('@'))) <= 1_000;
        }

        @Override
        public boolean createUser(User user) {
            return created.putIfAbsent(user.getEmail(), user) == null;
        }

        @Override
        public @Nullable User getUser(long id) {
            return user(id);
        }

        @Override
        public Page<User> listUser(int pageNo) {
            return new Page<>(pageNo, 1_000, List.copyOf(Collections.nCopies(PAGE_SIZE, user(1))));
        }

        @Override
        public String echo(String text) {
            return text;
        }

        @Override
        public Person echo(Person person) {
            return person;
        }

        @Override
        public ScheduleResult schedule(ScheduleRequest request) throws ScheduleException {
            if (request.tenant().equals("refused")) {
                throw new ScheduleException(ScheduleException.Reason.TENANT_REFUSED, "refused");
            }
            return new ScheduleResult(request.requestId(), 1, "Agent 1", 40, 0);
        }
    }
}
