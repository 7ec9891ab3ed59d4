package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.application;

import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import tern.rpc.client.MethodSettings;
import tern.rpc.spring.RpcReference;

/** Tests that environment variables can set the properties of services and methods whose names have several words. */
@ExtendWith(OutputCaptureExtension.class)
class VariablesOfServicesTest {

    private static final String SERVICE = "RPC_CLIENT_SERVICES_ORDER_SERVICE_";

    interface OrderService {
        String getAll(String name);
    }

    interface Alike {
        String getAll(String name);

        String getall(String name);
    }

    static class User {
        @RpcReference
        OrderService orders;
    }

    static class AlikeUser {
        @RpcReference
        Alike alike;
    }

    @ParameterizedTest
    @ValueSource(strings = {"ORDER_SERVICE", "ORDERSERVICE"})
    void variableSetsAServiceInEitherSpelling(String service, CapturedOutput output) {
        started(Map.of(
                        "RPC_CLIENT_SERVICES_" + service + "_TIMEOUT", "700ms",
                        "RPC_CLIENT_SERVICES_" + service + "_WAIT_FOR_READY", "true"))
                .run(here -> {
                    assertThat(reference(here).defaults().timeout()).isEqualTo(Duration.ofMillis(700));
                    assertThat(reference(here).defaults().waitForReady()).isTrue();
                });

        assertThat(output).doesNotContain("no reference has that name");
    }

    @ParameterizedTest
    @ValueSource(strings = {"GETALL", "GET_ALL"})
    void variableSetsAMethodInEitherSpelling(String method) {
        started(Map.of(SERVICE + "METHODS_" + method + "_TIMEOUT", "700ms"))
                .run(here -> assertThat(reference(here).methods())
                        .extractingByKey("getAll")
                        .extracting(MethodSettings::timeout)
                        .isEqualTo(Duration.ofMillis(700)));
    }

    @Test
    void numberInTheNameOfAServiceIsPartOfTheName(CapturedOutput output) {
        started(Map.of("RPC_CLIENT_SERVICES_ORDER_2_TIMEOUT", "700ms"))
                .run(here -> assertThat(here).hasNotFailed());

        assertThat(output).contains("rpc.client.services.order2 is set, but no reference has that name");
    }

    @Test
    void variableTakesPrecedenceOverAFileAndAddsToIt(CapturedOutput output) {
        started(Map.of(SERVICE + "TIMEOUT", "700ms"))
                .withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .addLast(new MapPropertySource(
                                "file",
                                Map.of(
                                        "rpc.client.services.order-service.timeout", "5s",
                                        "rpc.client.services.order-service.connections", "3"))))
                .run(here -> {
                    assertThat(reference(here).defaults().timeout()).isEqualTo(Duration.ofMillis(700));
                    assertThat(reference(here).connections()).isEqualTo(3);
                });

        assertThat(output).doesNotContain("no reference has that name");
    }

    @Test
    void variableForAServiceThatDoesNotExistIsReportedWithTheRightNames(CapturedOutput output) {
        started(Map.of("RPC_CLIENT_SERVICES_ORDER_SERVIZE_TIMEOUT", "700ms"))
                .run(here -> assertThat(here).hasNotFailed());

        assertThat(output)
                .contains("rpc.client.services.orderservize is set, but no reference has that name; there are"
                        + " OrderService");
    }

    @Test
    void variableForAMethodThatDoesNotExistStopsTheStartWithTheRightNames() {
        started(Map.of(SERVICE + "METHODS_GET_SOME_TIMEOUT", "700ms"))
                .run(here -> assertThat(StartFailures.causeOf(here.getStartupFailure()))
                        .hasMessageContaining("has no method 'getsome'")
                        .hasMessageContaining("it has getAll"));
    }

    @Test
    void ambiguousNameOfAMethodStopsTheStart() {
        application(AlikeUser.class)
                .withPropertyValues(
                        "rpc.client.url=127.0.0.1:1", "rpc.client.services.alike.methods.get-all.timeout=1s")
                .run(here -> assertThat(StartFailures.causeOf(here.getStartupFailure()))
                        .hasMessageContaining("has no method 'get-all'")
                        .hasMessageContaining("getAll")
                        .hasMessageContaining("getall"));
    }

    @Test
    void variableLimitsAMethodOfAnExportedService() {
        with(Map.of("RPC_SERVER_SERVICES_GREETING_SERVICE_METHODS_GREET_MAX_CONCURRENCY", "5"), Greeter.class)
                .withPropertyValues("rpc.server.port=0")
                .run(there -> assertThat(there).hasNotFailed());
        with(Map.of("RPC_SERVER_SERVICES_GREETING_SERVICE_METHODS_GREED_MAX_CONCURRENCY", "5"), Greeter.class)
                .withPropertyValues("rpc.server.port=0")
                .run(there -> assertThat(StartFailures.causeOf(there.getStartupFailure()))
                        .hasMessageContaining("no exported service greetingservice has a method greed"));
    }

    private static ReferenceSettings reference(AssertableApplicationContext here) {
        return here.getBean(ClientSettings.class).reference(OrderService.class, annotation(), text -> text, "here");
    }

    private static RpcReference annotation() {
        try {
            return User.class.getDeclaredField("orders").getAnnotation(RpcReference.class);
        } catch (NoSuchFieldException e) {
            throw new AssertionError(e);
        }
    }

    private static ApplicationContextRunner started(Map<String, Object> variables) {
        return with(variables, User.class).withPropertyValues("rpc.client.url=127.0.0.1:1");
    }

    private static ApplicationContextRunner with(Map<String, Object> variables, Class<?> configuration) {
        return application(configuration)
                .withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .replace(
                                StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
                                new SystemEnvironmentPropertySource(
                                        StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME, variables)));
    }
}
