package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import com.example.ledger.Entry;
import com.example.ledger.LedgerGrpc;
import com.example.ledger.Receipt;
import io.grpc.ManagedChannel;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.reflection.v1.ServerReflectionGrpc;
import io.grpc.reflection.v1.ServerReflectionRequest;
import io.grpc.reflection.v1.ServerReflectionResponse;
import io.grpc.reflection.v1.ServiceResponse;
import io.grpc.stub.StreamObserver;
import java.util.Iterator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.LivenessState;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tern.rpc.health.HealthService;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.rpc.spring.RpcServerCustomizer;
import tern.rpc.spring.RpcService;

/** Tests an application with generated services, health and reflection, called by gRPC clients. */
class RpcGrpcTest {

    // ---- generated services

    @Test
    void generatedServiceIsExportedByTheAnnotation() {
        provider(Ledger.class)
                .run(there -> calling(there, channel -> {
                    Receipt receipt = LedgerGrpc.newBlockingStub(channel)
                            .post(Entry.newBuilder().setAmount(5).build());

                    assertThat(receipt.getBalance()).isEqualTo(5);
                }));
    }

    @Test
    void generatedServiceIsOneExportUnderItsOwnName() {
        provider(Ledger.class)
                .run(there -> assertThat(there.getBean(RpcServer.class).exports())
                        .extracting(export -> export.key().toString())
                        .containsExactly("ledger.v1.Ledger", "grpc.health.v1.Health"));
    }

    @Test
    void twoBeansOfOneGeneratedServiceStopTheStart() {
        provider(Ledger.class, SecondLedger.class)
                .run(there -> assertThat(StartFailures.causeOf(there.getStartupFailure()))
                        .hasMessageContaining("ledger.v1.Ledger is exported twice"));
    }

    // ---- health

    @Test
    void healthFollowsTheReadinessOfTheApplication() {
        provider(Greeter.class)
                .run(there -> calling(there, channel -> {
                    assertThat(check(channel, "")).isEqualTo(ServingStatus.NOT_SERVING);

                    AvailabilityChangeEvent.publish(there, ReadinessState.ACCEPTING_TRAFFIC);
                    assertThat(check(channel, "")).isEqualTo(ServingStatus.SERVING);
                    assertThat(check(channel, GreetingService.class.getName())).isEqualTo(ServingStatus.SERVING);

                    AvailabilityChangeEvent.publish(there, LivenessState.BROKEN);
                    assertThat(check(channel, "")).isEqualTo(ServingStatus.SERVING);

                    AvailabilityChangeEvent.publish(there, ReadinessState.REFUSING_TRAFFIC);
                    assertThat(check(channel, "")).isEqualTo(ServingStatus.NOT_SERVING);
                    assertThat(check(channel, GreetingService.class.getName())).isEqualTo(ServingStatus.NOT_SERVING);
                }));
    }

    @Test
    void applicationServesFromItsLastRunnerUntilItCloses() throws Exception {
        ConfigurableApplicationContext there = new SpringApplicationBuilder(Whole.class)
                .web(WebApplicationType.NONE)
                .properties("rpc.server.port=0", "rpc.server.shutdown-timeout=5s")
                .run();
        assertThat(there.getBean(Whole.class).seenByRunner).isEqualTo(tern.rpc.health.ServingStatus.NOT_SERVING);

        calling(there, channel -> {
            Iterator<HealthCheckResponse> watch =
                    HealthGrpc.newBlockingStub(channel).watch(HealthCheckRequest.getDefaultInstance());
            assertThat(watch.next().getStatus()).isEqualTo(ServingStatus.SERVING);

            there.close();

            assertThat(watch.next().getStatus()).isEqualTo(ServingStatus.NOT_SERVING);
            assertThat(watch.hasNext()).isFalse();
        });
    }

    @Test
    void serviceThatACustomizerAddsHasItsHealthToo() {
        provider(Ledger.class, Customized.class).run(there -> {
            AvailabilityChangeEvent.publish(there, ReadinessState.ACCEPTING_TRAFFIC);

            assertThat(there.getBean(HealthService.class).status(Late.class.getName()))
                    .isEqualTo(tern.rpc.health.ServingStatus.SERVING);
        });
    }

    @Test
    void healthIsSwitchedOffByItsProperty() {
        provider(Greeter.class).withPropertyValues("rpc.server.health=false").run(there -> {
            assertThat(there).doesNotHaveBean(HealthService.class);
            calling(there, channel -> assertUnimplemented(() -> check(channel, "")));
        });
    }

    @Test
    void healthServiceOfTheApplicationReplacesTerns() {
        provider(Greeter.class, OwnHealth.class)
                .run(there -> calling(there, channel -> {
                    assertThat(check(channel, "theirs")).isEqualTo(ServingStatus.NOT_SERVING);
                    assertThat(there.getBean(RpcServer.class).exports()).hasSize(2);
                }));
    }

    private static ServingStatus check(ManagedChannel channel, String service) {
        return HealthGrpc.newBlockingStub(channel)
                .check(HealthCheckRequest.newBuilder().setService(service).build())
                .getStatus();
    }

    // ---- reflection

    @Test
    void reflectionIsOffUnlessItIsSwitchedOn() {
        provider(Greeter.class)
                .run(there -> calling(
                        there,
                        channel -> assertThatThrownBy(() -> list(channel))
                                .hasRootCauseInstanceOf(StatusRuntimeException.class)
                                .rootCause()
                                .hasMessageContaining("UNIMPLEMENTED")));
    }

    @Test
    void reflectionListsAllServices() {
        provider(Greeter.class, Ledger.class)
                .withPropertyValues("rpc.server.reflection=true")
                .run(there -> calling(
                        there,
                        channel -> assertThat(
                                        list(channel).getListServicesResponse().getServiceList())
                                .extracting(ServiceResponse::getName)
                                .containsExactlyInAnyOrder(
                                        GreetingService.class.getName(),
                                        "ledger.v1.Ledger",
                                        "grpc.health.v1.Health",
                                        "grpc.reflection.v1.ServerReflection",
                                        "grpc.reflection.v1alpha.ServerReflection")));
    }

    private static ServerReflectionResponse list(ManagedChannel channel) {
        CompletableFuture<ServerReflectionResponse> answer = new CompletableFuture<>();
        StreamObserver<ServerReflectionRequest> requests = ServerReflectionGrpc.newStub(channel)
                .serverReflectionInfo(new StreamObserver<>() {
                    @Override
                    public void onNext(ServerReflectionResponse response) {
                        answer.complete(response);
                    }

                    @Override
                    public void onError(Throwable failure) {
                        answer.completeExceptionally(failure);
                    }

                    @Override
                    public void onCompleted() {
                        // Other events are ignored, because only the response matters to the test.
                    }
                });
        requests.onNext(
                ServerReflectionRequest.newBuilder().setListServices("*").build());
        ServerReflectionResponse response = answer.join();
        requests.onCompleted();
        return response;
    }

    // ---- both sides

    private static void assertUnimplemented(Runnable call) {
        assertThatThrownBy(call::run)
                .isInstanceOfSatisfying(
                        StatusRuntimeException.class,
                        failure -> assertThat(failure.getStatus().getCode()).isEqualTo(Code.UNIMPLEMENTED));
    }

    private static void calling(ApplicationContext there, Consumer<ManagedChannel> calls) throws InterruptedException {
        ManagedChannel channel = NettyChannelBuilder.forTarget("dns:///" + Applications.addressOf(there))
                .usePlaintext()
                .build();
        try {
            calls.accept(channel);
        } finally {
            channel.shutdownNow();
            assertThat(channel.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
        }
    }

    @RpcService
    static class Ledger extends LedgerGrpc.LedgerImplBase {
        @Override
        public void post(Entry entry, StreamObserver<Receipt> answer) {
            answer.onNext(Receipt.newBuilder().setBalance(entry.getAmount()).build());
            answer.onCompleted();
        }
    }

    @RpcService
    static class SecondLedger extends LedgerGrpc.LedgerImplBase {}

    interface Late {
        String say(String text);
    }

    @Configuration(proxyBeanMethods = false)
    static class Customized {
        @Bean
        RpcServerCustomizer counters() {
            return server -> server.export(ServiceExport.of(Late.class, text -> text));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnHealth {
        @Bean
        HealthService health() {
            HealthService health = new HealthService();
            health.set("theirs", tern.rpc.health.ServingStatus.SERVING);
            return health;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Whole {
        tern.rpc.health.ServingStatus seenByRunner;

        @Bean
        @RpcService
        Ledger ledger() {
            return new Ledger();
        }

        @Bean
        ApplicationRunner runner(HealthService health) {
            return arguments -> seenByRunner = health.status("");
        }
    }
}
