package tern.rpc.spring.autoconfigure;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static tern.rpc.spring.autoconfigure.Applications.addressOf;
import static tern.rpc.spring.autoconfigure.Applications.consumerOf;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.AppenderBase;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.Serializable;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.Principal;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;
import org.springframework.boot.actuate.autoconfigure.context.properties.ConfigurationPropertiesReportEndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.env.EnvironmentEndpointAutoConfiguration;
import org.springframework.boot.actuate.context.properties.ConfigurationPropertiesReportEndpoint;
import org.springframework.boot.actuate.env.EnvironmentEndpoint;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import tern.rpc.CallHead;
import tern.rpc.CallOptions;
import tern.rpc.RpcAuthorizer;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;
import tern.rpc.spring.autoconfigure.actuate.RpcActuatorEndpoint;
import tern.rpc.spring.autoconfigure.actuate.RpcActuatorEndpoint.Format;
import tern.rpc.spring.autoconfigure.pool.HikariAutoConfiguration;
import tern.rpc.spring.autoconfigure.pool.JedisAutoConfiguration;
import tern.rpc.transport.TestAuthority;
import tern.rpc.transport.TestAuthority.Identity;
import tools.jackson.databind.json.JsonMapper;

/**
 * Puts secrets in every place where secrets can occur, and checks that no output contains them (promise R25 in
 * docs/figures/promises.md).
 */
class InjectedSecretsTest {

    private static final int MIN_SECRETS = 50;

    @TempDir
    private Path folder;

    private final List<String> injected = new ArrayList<>();
    private final Queue<String> outputs = new ConcurrentLinkedQueue<>();
    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private final Logger logger = (Logger) LoggerFactory.getLogger("tern.rpc");
    private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            outputs.add(event.getFormattedMessage() + ThrowableProxyUtil.asString(event.getThrowableProxy()));
        }
    };

    @BeforeEach
    void listen() {
        appender.setContext(logger.getLoggerContext());
        appender.start();
        logger.addAppender(appender);
        logger.setLevel(Level.DEBUG);
        logger.setAdditive(false);
    }

    @AfterEach
    void stopListening() {
        logger.detachAppender(appender);
        logger.setLevel(null);
        logger.setAdditive(true);
    }

    private String newSecret() {
        String secret = "injected" + HexFormat.of().toHexDigits(injected.size() * 0x9E3779B97F4A7C15L + 1);
        injected.add(secret);
        return secret;
    }

    private static String stackTrace(Throwable failure) {
        StringWriter text = new StringWriter();
        failure.printStackTrace(new PrintWriter(text));
        return text.toString();
    }

    private static String json(Object report) {
        return JsonMapper.builder().build().writeValueAsString(report);
    }

    // The test class calls the services that follow.

    public static class Card implements Serializable {

        private static final long serialVersionUID = 1L;

        private String number = "";

        public String getNumber() {
            return number;
        }

        public void setNumber(String number) {
            this.number = number;
        }
    }

    /** A service that receives secrets and must not reveal them. */
    public interface Vault {

        int put(String key, Card card);

        int fail(String key, Card card);

        int number(int value);
    }

    @RpcService
    static class Safe implements Vault {

        @Override
        public int put(String key, Card card) {
            return 1;
        }

        @Override
        public int fail(String key, Card card) {
            throw new IllegalStateException("the safe is jammed");
        }

        @Override
        public int number(int value) {
            return value;
        }
    }

    /**
     * An authorizer that refuses the call or throws an exception, if the call's metadata entry {@code wish} requests
     * this.
     */
    static class Guard implements RpcAuthorizer {

        @Override
        public @Nullable Principal authorize(CallHead call) {
            String wish = call.metadata().get("wish");
            if ("denied".equals(wish)) {
                throw RpcAuthorizer.denied("not today");
            }
            if ("broken".equals(wish)) {
                throw new IllegalStateException("the guard is ill");
            }
            return null;
        }
    }

    static class Customer {

        @RpcReference
        Vault vault;
    }

    private static Card card(String number) {
        Card card = new Card();
        card.setNumber(number);
        return card;
    }

    @Test
    void noOutputContainsASecret() throws Exception {
        String token = newSecret();
        String keyPassword = newSecret();
        Path keys = keyStore(keyPassword);
        List<String> ofProperties = new ArrayList<>(List.of(token, newSecret(), newSecret()));
        ApplicationContextRunner provider = provider(Safe.class, Guard.class)
                .withConfiguration(AutoConfigurations.of(
                        SslAutoConfiguration.class,
                        DataSourceAutoConfiguration.class,
                        HikariAutoConfiguration.class,
                        JedisAutoConfiguration.class,
                        EnvironmentEndpointAutoConfiguration.class,
                        ConfigurationPropertiesReportEndpointAutoConfiguration.class))
                .withBean(SimpleMeterRegistry.class, () -> meters)
                .withPropertyValues(
                        "rpc.server.token=" + String.join(",", ofProperties),
                        "rpc.client.token=" + plantInto(ofProperties),
                        "rpc.client.services.vault.token=" + plantInto(ofProperties),
                        "rpc.pools.jedis.url=redis://user:" + plantInto(ofProperties) + "@127.0.0.1:1/0",
                        "spring.datasource.url=jdbc:h2:mem:secrets",
                        "spring.datasource.type=com.zaxxer.hikari.HikariDataSource",
                        "spring.datasource.username=sa",
                        "spring.datasource.password=" + newSecret(),
                        "spring.ssl.bundle.jks.vault.keystore.location=" + keys.toUri(),
                        "spring.ssl.bundle.jks.vault.keystore.password=" + keyPassword,
                        "spring.ssl.bundle.jks.vault.key.password=" + keyPassword,
                        "rpc.server.ssl.bundle=vault",
                        "rpc.server.ssl.optional=true",
                        "rpc.server.exception-frames=64",
                        "management.endpoints.web.exposure.include=*");
        provider.run(there -> {
            assertThat(there).hasNotFailed();
            for (String protocol : List.of("dubbo", "tri", "http")) {
                callAll(there, protocol, token);
            }
            requestAll(there, token);
            report(there);
        });
        provider.withPropertyValues(
                        "management.endpoint.env.show-values=always",
                        "management.endpoint.configprops.show-values=always")
                .run(there -> assertThat(ofProperties).noneMatch(actuator(there)::contains));
        inCompositeValues();
        startsThatFail(keys);
        outputs.add(meters.getMetersAsString());

        assertThat(injected).hasSizeGreaterThanOrEqualTo(MIN_SECRETS);
        assertThat(String.join("\n", outputs)) // This assertion makes sure that the searched output is not empty.
                .contains("the safe is jammed", "not today", "authorization failed", "the guard is ill")
                .contains("does not accept the call's token", "rpc.server.requests", "spring.datasource.password")
                .contains("rpc.pools.jedis.url is no address", "rpc.server.token is a text with spaces");
        for (String output : outputs) {
            assertThat(injected).filteredOn(output::contains).as(output).isEmpty();
        }
    }

    /** Puts secrets into a command line, and into properties inside a JSON document. */
    private void inCompositeValues() {
        String first = newSecret();
        String second = newSecret();
        String third = newSecret();
        String json = "{\"rpc\":{\"server\":{\"token\":[\"" + first + "\",\"" + second + "\"]}},\"a\":1}";
        provider(Safe.class)
                .withConfiguration(AutoConfigurations.of(EnvironmentEndpointAutoConfiguration.class))
                .withSystemProperties(
                        "sun.java.command=app.jar --rpc.server.token=" + first + ", " + second + " --server.port=1",
                        "JAVA_TOOL_OPTIONS=-Drpc.client.token=" + third + " -Drpc.client.services.x.token=" + second)
                .withPropertyValues(
                        "management.endpoints.web.exposure.include=*",
                        "management.endpoint.env.show-values=always",
                        "SPRING_APPLICATION_JSON=" + json,
                        "other.json={\"rpc.client.token\":\"" + third + "\"}")
                .run(there -> {
                    String shown = json(there.getBean(EnvironmentEndpoint.class).environment(null));
                    assertThat(shown).contains("app.jar --rpc.server.token=******", "--server.port=1");
                    outputs.add(shown);
                });
    }

    private String plantInto(List<String> others) {
        String secret = newSecret();
        others.add(secret);
        return secret;
    }

    private Path keyStore(String password) throws Exception {
        Identity server = new TestAuthority("authority").issue("server", "127.0.0.1");
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setKeyEntry("server", server.key(), password.toCharArray(), new Certificate[] {server.certificate()});
        Path file = folder.resolve("server.p12");
        try (OutputStream out = Files.newOutputStream(file)) {
            store.store(out, password.toCharArray());
        }
        return file;
    }

    /**
     * Makes valid calls, invalid calls and calls by unauthenticated callers, with secrets as arguments and metadata.
     */
    private void callAll(ApplicationContext provider, String protocol, String token) {
        String url = "rpc.client.url=" + protocol + "://" + addressOf(provider);
        consumer(provider, url, token).run(here -> {
            Vault vault = here.getBean(Customer.class).vault;
            assertThat(with("x-key", newSecret()).on(vault).put(newSecret(), card(newSecret())))
                    .isEqualTo(1);
            told(() -> with("x-key", newSecret()).on(vault).fail(newSecret(), card(newSecret())));
            told(() -> with("x-key", newSecret())
                    .header("wish", "denied")
                    .on(vault)
                    .put(newSecret(), card(newSecret())));
            told(() -> with("x-key", newSecret())
                    .header("wish", "broken")
                    .on(vault)
                    .put(newSecret(), card(newSecret())));
            outputs.add(here.getBean(ClientSettings.class).toString());
            outputs.add(here.getBean(RpcClientProperties.class).toString());
            outputs.add(cluster(here, Format.JSON) + cluster(here, Format.TEXT));
        });
        consumer(provider, url, newSecret())
                .run(here -> told(() -> here.getBean(Customer.class).vault.put(newSecret(), card(newSecret()))));
    }

    private ApplicationContextRunner consumer(ApplicationContext provider, String url, String token) {
        return consumerOf(provider, Customer.class)
                .withBean(SimpleMeterRegistry.class, () -> meters)
                .withPropertyValues(url, "rpc.client.timeout=20s", "rpc.client.token=" + token)
                .withPropertyValues("management.endpoints.web.exposure.include=rpc");
    }

    private static String cluster(ApplicationContext consumer, Format format) {
        Object report = Objects.requireNonNull(
                        consumer.getBean(RpcActuatorEndpoint.class).part("cluster", format))
                .getBody();
        return format == Format.JSON ? json(report) : String.valueOf(report);
    }

    private static CallOptions with(String name, String value) {
        return CallOptions.none().header(name, value);
    }

    private void told(ThrowingCallable call) {
        outputs.add(stackTrace(Objects.requireNonNull(catchThrowable(call))));
    }

    /** Sends requests in every form, most of them invalid. */
    private void requestAll(ApplicationContext provider, String token) throws Exception {
        for (String type : List.of(
                "application/json",
                "application/grpc-web+json",
                "application/connect+json",
                "text/plain",
                "odd/type")) {
            for (String authorization : List.of("Bearer " + token, "Bearer " + newSecret(), "Basic " + newSecret())) {
                request(
                        provider,
                        "/" + Vault.class.getName() + "/number",
                        type,
                        authorization,
                        '"' + newSecret() + '"');
                request(provider, "/" + Vault.class.getName() + "/put", type, authorization, "{\"key\":" + newSecret());
            }
        }
    }

    private void request(ApplicationContext provider, String path, String type, String authorization, String body)
            throws IOException, InterruptedException {
        HttpResponse<byte[]> answer = HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create("http://" + addressOf(provider) + path))
                                .header("content-type", type)
                                .header("authorization", authorization)
                                .header("x-key", newSecret())
                                .POST(HttpRequest.BodyPublishers.ofString(body))
                                .build(),
                        HttpResponse.BodyHandlers.ofByteArray());
        outputs.add(answer.statusCode() + " " + answer.headers().map() + " " + new String(answer.body(), UTF_8));
    }

    private void report(ApplicationContext provider) {
        outputs.add(actuator(provider));
        outputs.add(provider.getBean(ServerSettings.class).toString());
        outputs.add(provider.getBean(RpcServerProperties.class).toString());
    }

    private static String actuator(ApplicationContext application) {
        return json(application.getBean(EnvironmentEndpoint.class).environment(null))
                + json(application
                        .getBean(ConfigurationPropertiesReportEndpoint.class)
                        .configurationProperties())
                + json(application.getBean(RpcActuatorEndpoint.class).report());
    }

    /** Starts applications whose invalid settings contain secrets, and collects their output. */
    private void startsThatFail(Path keys) {
        Map.of(
                        "rpc.server.token", "with space " + newSecret(),
                        "rpc.client.token", "with space " + newSecret(),
                        "rpc.client.services.x.token", "with space " + newSecret(),
                        "rpc.client.url", "dubbo://user:" + newSecret() + "@host:1",
                        "rpc.pools.jedis.url", "nonsense://user:" + newSecret() + "@host:x")
                .forEach((property, value) -> failing(property + "=" + value));
        failing(
                "spring.ssl.bundle.jks.vault.keystore.location=" + keys.toUri(),
                "spring.ssl.bundle.jks.vault.keystore.password=" + newSecret(),
                "rpc.server.ssl.bundle=vault");
    }

    private void failing(String... properties) {
        provider(Safe.class)
                .withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class, JedisAutoConfiguration.class))
                .withPropertyValues(properties)
                .run(there -> outputs.add(stackTrace(Objects.requireNonNull(there.getStartupFailure()))));
    }
}
