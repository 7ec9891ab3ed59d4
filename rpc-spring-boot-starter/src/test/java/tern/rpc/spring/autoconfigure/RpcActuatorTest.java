package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.application;
import static tern.rpc.spring.autoconfigure.Applications.consumerOf;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import java.util.List;
import java.util.Map;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.info.Info;
import org.springframework.boot.actuate.info.InfoContributor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import tern.rpc.health.HealthService;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.autoconfigure.actuate.RpcActuatorEndpoint;
import tern.rpc.spring.autoconfigure.actuate.RpcReport;
import tern.rpc.spring.autoconfigure.diagnosis.RpcDiagnosisAutoConfiguration;

/** Tests the content of the Actuator endpoints. */
class RpcActuatorTest {

    @Test
    void endpointShowsServicesWithKeyAndWeight() {
        provider(Greeter.class)
                .withPropertyValues("management.endpoints.web.exposure.include=rpc")
                .run(there -> {
                    RpcReport report = there.getBean(RpcActuatorEndpoint.class).report();

                    assertThat(report.server().running()).isTrue();
                    assertThat(report.server().port()).isPositive();
                    assertThat(report.server().services())
                            .containsExactly(
                                    new RpcReport.Service(GreetingService.class.getName(), 100),
                                    new RpcReport.Service(HealthService.NAME, 100));
                    assertThat(report.target()).isEqualTo(new RpcReport.Target(500, 100));
                    assertThat(report.references()).isEmpty();
                });
    }

    @Test
    void endpointShowsReferencesWithTheStateOfTheirEndpoints() {
        provider(Greeter.class)
                .run(there -> consumerOf(there, User.class)
                        .withPropertyValues("management.endpoints.web.exposure.include=rpc")
                        .run(here -> {
                            here.getBean(User.class).greetings.greet("x");

                            RpcReport report =
                                    here.getBean(RpcActuatorEndpoint.class).report();

                            assertThat(report.server()).isNull();
                            assertThat(report.references())
                                    .containsExactly(new RpcReport.Reference(
                                            GreetingService.class.getName(),
                                            List.of(new RpcReport.Address(
                                                    Applications.addressOf(there),
                                                    100,
                                                    RpcReport.State.CONNECTED,
                                                    0,
                                                    ""))));
                        }));
    }

    @Test
    void endpointIsAbsentWhereItIsNotExposed() {
        provider(Greeter.class).run(there -> assertThat(there).doesNotHaveBean(RpcActuatorEndpoint.class));
    }

    @Test
    void healthIsUpWithTheLastMinuteAgainstTheTarget() {
        provider(Greeter.class).run(there -> {
            Health health = healthOf(there);

            assertThat(health.getStatus()).isEqualTo(Status.UP);
            assertThat(health.getDetails()).containsEntry("target", "500 calls/s within 100.0 ms");
            assertThat(health.getDetails().get("server"))
                    .isEqualTo("listening on port " + there.getEnvironment().getProperty("local.rpc.port"));
            assertThat(health.getDetails().get("served"))
                    .asInstanceOf(InstanceOfAssertFactories.MAP)
                    .containsOnlyKeys("qps", "p50", "p99", "max", "over target", "failed");
        });
    }

    @Test
    void healthIsDownWhenTheServerShouldRunAndDoesNot() {
        provider(Greeter.class).run(there -> {
            there.getBean(RpcServerLifecycle.class).stop();

            assertThat(healthOf(there).getStatus()).isEqualTo(Status.DOWN);
        });
    }

    @Test
    void unreachableProviderIsADetailOnly() {
        application(User.class).withPropertyValues("rpc.client.url=127.0.0.1:1").run(here -> {
            Health health = healthOf(here);

            assertThat(health.getStatus()).isEqualTo(Status.UP);
            assertThat(health.getDetails())
                    .containsEntry("references", Map.of(GreetingService.class.getName(), "unreachable"));
        });
    }

    @Test
    void healthCanBeSwitchedOff() {
        provider(Greeter.class)
                .withPropertyValues("management.health.rpc.enabled=false")
                .run(there -> assertThat(there).doesNotHaveBean("rpcHealthIndicator"));
    }

    @Test
    void unknownReportIsAnsweredWithTheNames() {
        provider(Greeter.class)
                .withPropertyValues("management.endpoints.web.exposure.include=rpc")
                .run(there -> {
                    WebEndpointResponse<Object> answer =
                            there.getBean(RpcActuatorEndpoint.class).part("pool", RpcActuatorEndpoint.Format.TEXT);

                    assertThat(answer.getStatus()).isEqualTo(404);
                    assertThat(answer.getBody())
                            .isEqualTo(Map.of("message", "there is no such report; the reports are cluster, pools"));
                });
    }

    @Test
    void componentOfFailingCallsHasItsOwnSwitch() {
        ApplicationContextRunner diagnosed =
                provider(Greeter.class).withConfiguration(AutoConfigurations.of(RpcDiagnosisAutoConfiguration.class));

        diagnosed.run(there -> assertThat(there).hasBean("rpcHealthIndicator").hasBean("rpcCallsHealthIndicator"));
        diagnosed
                .withPropertyValues("management.health.rpc-calls.enabled=false")
                .run(there ->
                        assertThat(there).hasBean("rpcHealthIndicator").doesNotHaveBean("rpcCallsHealthIndicator"));
    }

    @Test
    void infoNamesPortAndServices() {
        provider(Greeter.class).run(there -> {
            Info.Builder info = new Info.Builder();

            there.getBean(InfoContributor.class).contribute(info);

            assertThat(info.build().get("rpc", Map.class))
                    .containsKey("port")
                    .containsEntry("services", List.of(GreetingService.class.getName(), HealthService.NAME));
        });
    }

    @Test
    void applicationStartsWithoutActuator() {
        provider(Greeter.class)
                .withClassLoader(new FilteredClassLoader(Endpoint.class, HealthIndicator.class))
                .run(there -> assertThat(there)
                        .hasNotFailed()
                        .doesNotHaveBean("rpcReporter")
                        .doesNotHaveBean("rpcHealthIndicator"));
    }

    @Test
    void endpointIsThereWithoutHealth() {
        provider(Greeter.class)
                .withPropertyValues("management.endpoints.web.exposure.include=rpc")
                .withClassLoader(new FilteredClassLoader(HealthIndicator.class))
                .run(there -> assertThat(there)
                        .hasSingleBean(RpcActuatorEndpoint.class)
                        .doesNotHaveBean("rpcHealthIndicator"));
    }

    private static Health healthOf(ApplicationContext context) {
        return context.getBean("rpcHealthIndicator", HealthIndicator.class).health();
    }

    static class User {
        @RpcReference
        GreetingService greetings;
    }
}
