package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.application;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.core.env.Environment;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.settings.RpcStartException;

/** Tests that properties have their effect, and that startup fails for invalid values. */
class RpcPropertiesTest {

    @Test
    void defaultsEqualTheDefaultsOfTheLibraries() {
        provider(Greeter.class).run(there -> {
            ServerSettings settings = there.getBean(ServerSettings.class);

            assertThat(settings.threads()).isEqualTo(200);
            assertThat(settings.queueCapacity()).isEqualTo(400);
            assertThat(there.getBean(ServerTransportSettings.class)).isEqualTo(ServerTransportSettings.onPort(0));
            assertThat(there.getBean(ClientTransportSettings.class)).isEqualTo(ClientTransportSettings.named(""));
            assertThat(there.getBean(RpcMeters.class).slo().latency()).isEqualTo(Duration.ofMillis(100));
        });
    }

    @Test
    void requestsAndAnswersHaveALimitEachAndTheCommonOneHoldsForTheOther() {
        provider(Greeter.class)
                .withPropertyValues("rpc.limits.max-message=1MB", "rpc.limits.max-response=32MB")
                .run(there -> {
                    ServerTransportSettings server = there.getBean(ServerTransportSettings.class);
                    assertThat(server.maxRequestBytes()).isEqualTo(1 << 20);
                    assertThat(server.maxResponseBytes()).isEqualTo(32 << 20);
                    ClientTransportSettings client = there.getBean(ClientTransportSettings.class);
                    assertThat(client.maxRequestBytes()).isEqualTo(1 << 20);
                    assertThat(client.maxResponseBytes()).isEqualTo(32 << 20);
                });
        provider(Greeter.class).withPropertyValues("rpc.limits.max-request=2MB").run(there -> {
            ServerTransportSettings server = there.getBean(ServerTransportSettings.class);
            assertThat(server.maxRequestBytes()).isEqualTo(2 << 20);
            assertThat(server.maxResponseBytes()).isEqualTo(8 << 20);
        });
    }

    @Test
    void valuesReachTheSettings() {
        provider(Greeter.class)
                .withPropertyValues(
                        "spring.application.name=shop",
                        "rpc.server.threads=4",
                        "rpc.server.address=127.0.0.1",
                        "rpc.limits.max-message=1MB",
                        "rpc.client.heartbeat=7s",
                        "rpc.slo.qps=9",
                        "rpc.slo.latency=20ms")
                .run(there -> {
                    assertThat(there.getBean(ServerSettings.class).queueCapacity())
                            .isEqualTo(8);
                    assertThat(there.getBean(ServerTransportSettings.class).address())
                            .isEqualTo("127.0.0.1");
                    assertThat(there.getBean(ServerTransportSettings.class).maxRequestBytes())
                            .isEqualTo(1 << 20);
                    ClientTransportSettings client = there.getBean(ClientTransportSettings.class);
                    assertThat(client.application()).isEqualTo("shop");
                    assertThat(client.heartbeat()).isEqualTo(Duration.ofSeconds(7));
                    assertThat(client.maxRequestBytes()).isEqualTo(1 << 20);
                    assertThat(there.getBean(RpcMeters.class).slo().qps()).isEqualTo(9);
                });
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "rpc.server.port=70000                          | rpc.server.port is 70000; expected 0 to 65535",
                "rpc.server.threads=0                           | rpc.server.threads is 0; expected 1 to 10000",
                "rpc.server.queue-capacity=-1                   | rpc.server.queue-capacity is -1; expected 0 to 1000000",
                "rpc.server.max-queue-wait=0ms                  | rpc.server.max-queue-wait is 0s; expected more than 0",
                "rpc.server.io-threads=-1                       | rpc.server.io-threads is -1; expected 0 to 256",
                "rpc.server.exception-frames=65                 | rpc.server.exception-frames is 65; expected 0 to 64",
                "rpc.server.idle-timeout=-5s                    | rpc.server.idle-timeout is -5s; expected more than 0",
                "rpc.server.shutdown-timeout=-1s                | rpc.server.shutdown-timeout is -1s; expected 0 or more",
                "rpc.client.timeout=-1s                         | rpc.client.timeout is -1s; expected more than 0",
                "rpc.client.connect-timeout=0s                  | rpc.client.connect-timeout is 0s; expected more than 0",
                "rpc.client.heartbeat=0s                        | rpc.client.heartbeat is 0s; expected more than 0",
                "rpc.client.check-timeout=-1s                   | rpc.client.check-timeout is -1s; expected 0 or more",
                "rpc.client.reconnect-max=0s                    | rpc.client.reconnect-max is 0s; expected more than 0",
                "rpc.client.resolve-interval=0s                 | rpc.client.resolve-interval is 0s; expected more than 0",
                "rpc.client.url=host:99999                      | rpc.client.url is 'host:99999'; expected host:port",
                "rpc.client.url=dubbo://a,tri://b               | expected one protocol for all addresses of a service",
                "rpc.client.services.x.url=a b                  | rpc.client.services.x.url is 'a b'; expected host:port",
                "rpc.client.services.x.timeout=0s               | rpc.client.services.x.timeout is 0s; expected more than 0",
                "rpc.client.services.x.connections=-2           | rpc.client.services.x.connections is -2; expected 0 to 1024",
                "rpc.client.services.x.methods.y.timeout=0s     | rpc.client.services.x.methods.y.timeout is 0s",
                "rpc.limits.max-message=1B                      | rpc.limits.max-message is 1B; expected 1KB to 1GB",
                "rpc.limits.max-request=1B                      | rpc.limits.max-request is 1B; expected 1KB to 1GB",
                "rpc.limits.max-response=2GB                    | rpc.limits.max-response is 2GB; expected 1KB to 1GB",
                "rpc.limits.max-unsent=1B                       | rpc.limits.max-unsent is 1B; expected 8MB or more",
                "rpc.limits.max-connections=0                   | rpc.limits.max-connections is 0; expected 1 or more",
                "rpc.limits.max-connections-per-host=0          | rpc.limits.max-connections-per-host is 0",
                "rpc.limits.max-calls-per-connection=0          | rpc.limits.max-calls-per-connection is 0",
                "rpc.limits.first-bytes-timeout=0s              | rpc.limits.first-bytes-timeout is 0s",
                "rpc.limits.max-depth=513                       | rpc.limits.max-depth is 513; expected 1 to 512",
                "rpc.limits.max-values=0                        | rpc.limits.max-values is 0; expected 1 or more",
                "rpc.limits.allowed-classes=a..b                | rpc.limits.allowed-classes is [a..b]; expected class names",
                "rpc.slo.qps=0                                  | rpc.slo.qps is 0; expected 1 or more",
                "rpc.slo.latency=-1ms                           | rpc.slo.latency is -1ms; expected more than 0",
            })
    void valueOutOfRangeStopsTheStart(String property, String message) {
        provider(Greeter.class).withPropertyValues(property.trim()).run(there -> {
            RpcStartException failure = StartFailures.causeOf(there.getStartupFailure());
            assertThat(failure).hasMessageContaining(message);

            FailureAnalysis analysis = new RpcStartFailureAnalyzer(environmentWith(property.trim())).analyze(failure);

            assertThat(analysis.getDescription()).contains(message).contains("from property source \"test\"");
            assertThat(analysis.getAction()).contains(property.substring(0, property.indexOf('=')));
        });
    }

    @Test
    void clientOnlyApplicationDoesNotStartWithABadServerValueEither() {
        application()
                .withPropertyValues("rpc.server.port=-1")
                .run(here -> assertThat(here).hasFailed());
    }

    @ParameterizedTest
    @CsvSource({
        "rpc.server.prot, rpc.server.port",
        "rpc.server.theads, rpc.server.threads",
        "rpc.server.timeout, rpc.client.timeout",
        "rpc.server.max-connections, rpc.limits.max-connections",
        "rpc.client.services.user.tiemout, rpc.client.services.user.timeout",
        "rpc.client.services.user.methods.get.idempotant, rpc.client.services.user.methods.get.idempotent",
        "rpc.limits.allowed-class, rpc.limits.allowed-classes",
        "rpc.slo.latncy, rpc.slo.latency",
    })
    void unknownKeyStopsTheStartWithASuggestion(String key, String suggestion) {
        application()
                .withPropertyValues(key + "=1")
                .run(here -> assertThat(StartFailures.causeOf(here.getStartupFailure()))
                        .hasMessageContaining("property " + key)
                        .hasMessageContaining("from property source \"test\"")
                        .hasMessageEndingWith("did you mean " + suggestion + "?"));
    }

    @ParameterizedTest
    @CsvSource({
        "rpc.client.services.c.Conf.OrderService.timeout, rpc.client.services.order-service.timeout",
        "rpc.client.services.c.Conf$OrderService.timeout, rpc.client.services.order-service.timeout",
        "rpc.client.services.c.conf$order-service.url, rpc.client.services.order-service.url",
        "rpc.client.services.c.Conf.OrderService.url[0], rpc.client.services.order-service.url",
        "rpc.client.services.c.OrderService.methods.getAll.idempotent,"
                + " rpc.client.services.order-service.methods.getAll.idempotent",
        "rpc.server.services.c.OrderService.methods.get.max-concurrency,"
                + " rpc.server.services.order-service.methods.get.max-concurrency",
    })
    void fullInterfaceNameStopsTheStartWithTheShortOneAsSuggestion(String key, String suggestion) {
        application()
                .withPropertyValues(key + "=1")
                .run(here -> assertThat(StartFailures.causeOf(here.getStartupFailure()))
                        .hasMessageContaining("\"" + key + "\" from property source \"test\"")
                        .hasMessageEndingWith("did you mean " + suggestion + "?"));
    }

    @Test
    void everyUnknownKeyIsNamedAtOnce() {
        application()
                .withPropertyValues("rpc.server.prot=1", "rpc.slo.qbs=1")
                .run(here -> assertThat(StartFailures.causeOf(here.getStartupFailure()))
                        .hasMessageContaining("rpc.server.prot")
                        .hasMessageContaining("rpc.slo.qbs"));
    }

    @Test
    void everySpellingThatSpringBindsIsKnown() {
        application()
                .withPropertyValues(
                        "rpc.server.queueCapacity=1",
                        "rpc.server.max_queue_wait=10ms",
                        "rpc.client.url[0]=127.0.0.1:1",
                        "rpc.client.url[1]=127.0.0.1:2",
                        "rpc.client.services.userService.url=127.0.0.1:3",
                        "rpc.client.services[com.acme.Order].methods.placeOrder.oneWay=true",
                        "rpc.limits.allowed-classes=a.B,c.**",
                        "rpc.other.key=of somebody else")
                .run(here -> assertThat(here).hasNotFailed());
    }

    @ExtendWith(OutputCaptureExtension.class)
    @Test
    void unknownEnvironmentVariableOnlyWarns(CapturedOutput output) {
        withEnvironment(Map.of("RPC_SERVER_SERVICE_HOST", "10.0.0.1", "RPC_SERVER_PROT", "1"))
                .run(here -> assertThat(here).hasNotFailed());

        assertThat(output).contains("rpc.server.service.host").contains("did you mean rpc.server.port?");
    }

    @ExtendWith(OutputCaptureExtension.class)
    @Test
    void knownEnvironmentVariablesDoNotWarn(CapturedOutput output) {
        withEnvironment(Map.of(
                        "RPC_SERVER_QUEUE_CAPACITY", "5",
                        "RPC_SERVER_MAXQUEUEWAIT", "5ms",
                        "RPC_CLIENT_URL_0_", "127.0.0.1:1",
                        "RPC_CLIENT_SERVICES_USERSERVICE_METHODS_GET_ONEWAY", "true"))
                .run(here -> assertThat(here.getBean(ServerSettings.class).queueCapacity())
                        .isEqualTo(5));

        assertThat(output).doesNotContain("Environment variable ignored");
    }

    private static Environment environmentWith(String property) {
        StandardEnvironment environment = new StandardEnvironment();
        TestPropertyValues.of(property).applyTo(environment);
        return environment;
    }

    private static ApplicationContextRunner withEnvironment(Map<String, Object> variables) {
        return application()
                .withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .replace(
                                StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
                                new SystemEnvironmentPropertySource(
                                        StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME, variables)));
    }
}
