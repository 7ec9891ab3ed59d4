package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static tern.rpc.spring.autoconfigure.Applications.application;
import static tern.rpc.spring.autoconfigure.Applications.consumerOf;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.transport.ReceiverContext;
import io.micrometer.observation.transport.SenderContext;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tern.rpc.ServerContext;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;
import tern.rpc.pool.PoolSource;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/** Tests meters and observations of calls. */
class RpcObservationTest {

    private static final String TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    @Test
    void metersAreKeptInTheRegistryOfTheApplication() {
        provider(Greeter.class, Meters.class)
                .run(there -> consumerOf(there, User.class, Meters.class).run(here -> {
                    here.getBean(User.class).greetings.greet("x");

                    assertThat(here.getBean(MeterRegistry.class)
                                    .get("rpc.client.requests")
                                    .tags(
                                            "service",
                                            GreetingService.class.getName(),
                                            "method",
                                            "greet",
                                            "outcome",
                                            "ok")
                                    .timer()
                                    .count())
                            .isEqualTo(1);
                    assertThat(there.getBean(MeterRegistry.class)
                                    .get("rpc.server.workers.limit")
                                    .gauge()
                                    .value())
                            .isEqualTo(200);
                }));
    }

    @Test
    void callIsObservedOnceOnEachSideAndTheTraceIsPropagated() {
        provider(TraceTeller.class, Traces.class)
                .run(there -> consumerOf(there, User.class, Traces.class).run(here -> {
                    String seen = here.getBean(User.class).greetings.greet("x");

                    assertThat(seen).isEqualTo("header " + TRACE + ", MDC " + TRACE);
                    assertThat(here.getBean(Traces.class).ended)
                            .containsExactly("rpc.client.calls GreetingService/greet ok");
                    assertThat(there.getBean(Traces.class).ended)
                            .containsExactly("rpc.server.calls GreetingService/greet ok");
                    assertThat(MDC.get("trace")).isNull();
                }));
    }

    @Test
    void observationsCreateNoAdditionalTimers() {
        provider(Greeter.class, MeteredTraces.class)
                .run(there -> consumerOf(there, User.class, MeteredTraces.class).run(here -> {
                    here.getBean(User.class).greetings.greet("x");

                    for (ApplicationContext side : List.of(there, here)) {
                        MeterRegistry meters = side.getBean(MeterRegistry.class);
                        assertThat(side.getBean(CallObservations.class).registry())
                                .isNotNull();
                        while (side == there
                                && meters.find("rpc.server.requests").timer() == null) {
                            // The server counts a call only after it has sent the response, so the test waits.
                            LockSupport.parkNanos(1_000_000);
                        }
                        assertThat(meters.getMeters())
                                .extracting(meter -> meter.getId().getName())
                                .contains(side == there ? "rpc.server.requests" : "rpc.client.requests", "else")
                                .noneMatch(name -> name.contains(".calls"));
                    }
                }));
    }

    /** Checks the meters of pools. The meters of servers and clients are checked in rpc-core. */
    @Test
    void everyMeterHasADescriptionAndTheUnitOfItsValues() {
        provider(Greeter.class, Meters.class, ExecutorPool.class).run(there -> {
            List<Meter> ours = there.getBean(MeterRegistry.class).getMeters().stream()
                    .filter(meter -> meter.getId().getName().startsWith("rpc."))
                    .toList();

            assertThat(ours)
                    .extracting(meter -> meter.getId().getName())
                    .contains("rpc.server.inbound", "rpc.pool.held", "rpc.pool.waited", "rpc.pool.active");
            assertThat(ours).allSatisfy(meter -> {
                assertThat(meter.getId().getDescription()).isNotBlank();
                assertThat(meter.getId().getBaseUnit()).isEqualTo(unit(meter));
            });
        });
    }

    /** Returns the expected unit of a meter's values, as derived from the first word of its description. */
    private static String unit(Meter meter) {
        if (meter instanceof Timer) {
            return "seconds";
        }
        String description = String.valueOf(meter.getId().getDescription());
        return description.startsWith("Bytes") ? "bytes" : description.startsWith("Seconds") ? "seconds" : null;
    }

    @Test
    void failureIsObserved() {
        provider(Failing.class)
                .run(there -> consumerOf(there, User.class, Traces.class).run(here -> {
                    GreetingService greetings = here.getBean(User.class).greetings;

                    assertThatThrownBy(() -> greetings.greet("x")).isInstanceOf(IllegalStateException.class);
                    assertThat(here.getBean(Traces.class).ended)
                            .containsExactly("rpc.client.calls GreetingService/greet exception");
                }));
    }

    @Test
    void nothingIsObservedWhereOnlyMetersLook() {
        application(Meters.class, OnlyMeters.class)
                .run(here -> assertThat(here.getBean(CallObservations.class).registry())
                        .isNull());
    }

    @Test
    void callsAreNotObservedWithoutAHandler() {
        application(Blind.class)
                .run(here -> assertThat(here.getBean(CallObservations.class).registry())
                        .isNull());
    }

    static class User {
        @RpcReference
        GreetingService greetings;
    }

    @RpcService
    static class TraceTeller implements GreetingService {
        @Override
        public String greet(String name) {
            return "header " + ServerContext.current().metadata().get("traceparent") + ", MDC " + MDC.get("trace");
        }
    }

    @RpcService
    static class Failing implements GreetingService {
        @Override
        public String greet(String name) {
            throw new IllegalStateException("no");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Meters {
        @Bean
        MeterRegistry meterRegistry() {
            return new SimpleMeterRegistry();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ExecutorPool {
        @Bean
        PoolSource pool() {
            PoolSnapshot snapshot = PoolSnapshot.builder("x", PoolKind.EXECUTOR, 2)
                    .sums(Duration.ZERO, Duration.ZERO)
                    .build();
            return () -> snapshot;
        }
    }

    /** Configures meter handlers, trace handlers and meter filters in the same way as an application with tracing. */
    @Configuration(proxyBeanMethods = false)
    static class MeteredTraces {
        @Bean
        MeterRegistry meterRegistry(ObjectProvider<MeterFilter> filters) {
            MeterRegistry registry = new SimpleMeterRegistry();
            filters.forEach(registry.config()::meterFilter);
            return registry;
        }

        @Bean
        ObservationHandler<Observation.Context> meterHandler(MeterRegistry meters) {
            return new DefaultMeterObservationHandler(meters);
        }

        @Bean
        ObservationHandler<Observation.Context> otherHandler() {
            return context -> true;
        }

        @Bean
        ObservationRegistry observationRegistry(List<ObservationHandler<Observation.Context>> handlers) {
            ObservationRegistry registry = ObservationRegistry.create();
            handlers.forEach(registry.observationConfig()::observationHandler);
            Observation.createNotStarted("else", registry).observe(() -> {});
            return registry;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OnlyMeters {
        @Bean
        ObservationHandler<Observation.Context> meterHandler(MeterRegistry meters) {
            return new DefaultMeterObservationHandler(meters);
        }

        @Bean
        ObservationRegistry observationRegistry(ObservationHandler<Observation.Context> handler) {
            ObservationRegistry registry = ObservationRegistry.create();
            registry.observationConfig().observationHandler(handler);
            return registry;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Blind {
        @Bean
        ObservationRegistry observationRegistry() {
            return ObservationRegistry.create();
        }
    }

    /** Writes, reads and exposes trace headers in the same way as a tracing library. */
    @Configuration(proxyBeanMethods = false)
    static class Traces {
        final List<String> ended = new CopyOnWriteArrayList<>();

        @Bean
        ObservationRegistry observationRegistry() {
            ObservationRegistry registry = ObservationRegistry.create();
            registry.observationConfig().observationHandler(new Tracing(ended));
            return registry;
        }
    }

    private static final class Tracing implements ObservationHandler<Observation.Context> {
        private final List<String> ended;

        Tracing(List<String> ended) {
            this.ended = ended;
        }

        @Override
        public boolean supportsContext(Observation.Context context) {
            return true;
        }

        @Override
        public void onStart(Observation.Context context) {
            if (context instanceof SenderContext<?> sender) {
                send(sender);
            } else if (context instanceof ReceiverContext<?> receiver) {
                context.put("trace", receive(receiver));
            }
        }

        private static <C> void send(SenderContext<C> context) {
            context.getSetter().set(context.getCarrier(), "traceparent", TRACE);
        }

        private static <C> String receive(ReceiverContext<C> context) {
            return context.getGetter().get(context.getCarrier(), "traceparent");
        }

        @Override
        public void onScopeOpened(Observation.Context context) {
            if (context.containsKey("trace")) {
                MDC.put("trace", context.get("trace"));
            }
        }

        @Override
        public void onScopeClosed(Observation.Context context) {
            MDC.remove("trace");
        }

        @Override
        public void onStop(Observation.Context context) {
            ended.add(context.getName() + " " + context.getContextualName() + " "
                    + context.getLowCardinalityKeyValue("outcome").getValue());
        }
    }
}
