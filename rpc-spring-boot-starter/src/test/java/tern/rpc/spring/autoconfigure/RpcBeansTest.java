package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static tern.rpc.spring.autoconfigure.Applications.application;
import static tern.rpc.spring.autoconfigure.Applications.consumerOf;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import tern.rpc.ClientFilter;
import tern.rpc.Invocation;
import tern.rpc.Invoker;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.ServerFilter;
import tern.rpc.StatusCode;
import tern.rpc.client.RpcClient;
import tern.rpc.metrics.Slo;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.EventLoops;
import tern.rpc.serialization.Serializer;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.rpc.spring.RpcClientCustomizer;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcServerCustomizer;
import tern.rpc.transport.IdleServerTransport;
import tern.rpc.transport.ServerTransport;

/** Tests which of the application's beans replace or change Tern's beans. */
class RpcBeansTest {

    @Test
    void beansOfTheApplicationReplaceOurs() {
        application(Own.class).run(here -> {
            assertThat(here).hasSingleBean(Serializer.class).hasBean("ownSerializer");
            assertThat(here).hasSingleBean(Slo.class).hasBean("ownSlo");
            assertThat(here).hasSingleBean(EventLoops.class).hasBean("ownLoops");
            assertThat(here).hasSingleBean(RpcClient.class).hasBean("ownClient");
            assertThat(here).hasSingleBean(ClientTransportSettings.class).hasBean("ownTransportSettings");
        });
    }

    @Test
    void serverThatTheApplicationBuiltIsStartedAndStopped() {
        provider(OwnServer.class)
                .run(there -> consumerOf(there, User.class).run(here -> {
                    assertThat(here.getBean(User.class).greetings.greet("x")).isEqualTo("Own x");
                }));
    }

    @Test
    void transportOfTheApplicationIsUsed() {
        provider(Greeter.class, OwnServerTransport.class).run(there -> {
            assertThat(there).hasNotFailed().doesNotHaveBean("rpcServerTransport");
            assertThat(there.getEnvironment().getProperty("local.rpc.port")).isEqualTo("4711");
        });
    }

    @Test
    void clientAndServerShareTheirEventLoops() {
        provider(Greeter.class, User.class)
                .withPropertyValues("rpc.client.url=127.0.0.1:1")
                .run(here -> assertThat(here).hasSingleBean(EventLoops.class));
    }

    @Test
    void customizersRunInOrderAfterTheProperties() {
        provider(Greeter.class, Customizers.class)
                .withPropertyValues("rpc.server.threads=3")
                .run(there -> {
                    assertThat(there.getBean(RpcServer.class).workers().maxThreads())
                            .isEqualTo(8);
                    assertThat(there.getBean(Customizers.class).seen).containsExactly("first", "second");
                });
    }

    @Test
    void clientCustomizerChangesTheClient() {
        provider(Sleeper.class)
                .run(there -> consumerOf(there, User.class, ShortTimeout.class).run(here -> {
                    GreetingService greetings = here.getBean(User.class).greetings;

                    assertThatThrownBy(() -> greetings.greet("x"))
                            .isInstanceOfSatisfying(
                                    RpcException.class,
                                    failure -> assertThat(failure.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED));
                    there.getBean(Sleeper.class).wake();
                }));
    }

    @Test
    void serverCustomizerThatFailsIsNamedWithItsLine() {
        provider(Greeter.class, FailingCustomizers.class)
                .withPropertyValues("fails=server")
                .run(there -> assertThat(StartFailures.causeOf(there.getStartupFailure()))
                        .hasMessageMatching("The RpcServerCustomizer of the class .*FailingCustomizers failed at"
                                + " .*FailingCustomizers.*RpcBeansTest.java:\\d+\\):"
                                + " java.lang.IllegalArgumentException: no such service"));
    }

    @Test
    void clientCustomizerThatFailsIsNamedWithItsLine() {
        application(User.class, FailingCustomizers.class)
                .withPropertyValues("fails=client", "rpc.client.url=localhost:1")
                .run(here -> assertThat(StartFailures.causeOf(here.getStartupFailure()))
                        .hasMessageMatching("The RpcClientCustomizer of the class .*FailingCustomizers failed at"
                                + " .*FailingCustomizers.*RpcBeansTest.java:\\d+\\):"
                                + " java.lang.UnsupportedOperationException"));
    }

    @Test
    void beanThatACustomizerLacksIsReportedBySpring() {
        provider(Greeter.class, FailingCustomizers.class)
                .withPropertyValues("fails=lookup")
                .run(there -> assertThat(there.getStartupFailure())
                        .hasRootCauseInstanceOf(NoSuchBeanDefinitionException.class)
                        .satisfies(failure -> assertThatThrownBy(() -> StartFailures.causeOf(failure))
                                .isInstanceOf(AssertionError.class)));
    }

    @Configuration(proxyBeanMethods = false)
    static class FailingCustomizers {

        @Bean
        @ConditionalOnProperty(name = "fails", havingValue = "server")
        RpcServerCustomizer failing() {
            return server -> {
                throw new IllegalArgumentException("no such service");
            };
        }

        @Bean
        @ConditionalOnProperty(name = "fails", havingValue = "client")
        RpcClientCustomizer unsupported() {
            return client -> {
                throw new UnsupportedOperationException();
            };
        }

        @Bean
        @ConditionalOnProperty(name = "fails", havingValue = "lookup")
        RpcServerCustomizer lookup(BeanFactory beans) {
            return server -> beans.getBean("missing");
        }
    }

    @Test
    void filtersSurroundCallsInTheirOrder() {
        provider(Greeter.class, ServerFilters.class)
                .run(there -> consumerOf(there, User.class, ClientFilters.class).run(here -> {
                    String answer = here.getBean(User.class).greetings.greet("x");

                    assertThat(answer).isEqualTo("Hello x");
                    assertThat(here.getBean(ClientFilters.class).seen)
                            .containsExactly("outer in", "inner in", "inner out", "outer out");
                    assertThat(there.getBean(ServerFilters.class).seen)
                            .containsExactly("outer in", "inner in", "inner out", "outer out");
                }));
    }

    static class User {
        @RpcReference
        GreetingService greetings;
    }

    @Configuration(proxyBeanMethods = false)
    static class Own {
        @Bean
        Serializer ownSerializer() {
            return HessianSerializer.builder().build();
        }

        @Bean
        Slo ownSlo() {
            return new Slo(1, Duration.ofSeconds(1));
        }

        @Bean
        EventLoops ownLoops() {
            return EventLoops.start(1);
        }

        @Bean
        RpcClient ownClient() {
            return RpcClient.builder().build();
        }

        @Bean
        ClientTransportSettings ownTransportSettings() {
            return ClientTransportSettings.named("own");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnServer {
        @Bean
        RpcServer ownServer(ServerTransport transport) {
            GreetingService greetings = name -> "Own " + name;
            return RpcServer.builder(transport)
                    .export(ServiceExport.of(GreetingService.class, greetings))
                    .build();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnServerTransport {
        @Bean
        ServerTransport ownTransport() {
            return new SilentTransport();
        }
    }

    /** A transport that accepts no connections. */
    static class SilentTransport extends IdleServerTransport {
        @Override
        public int port() {
            return 4711;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Customizers {
        final List<String> seen = new CopyOnWriteArrayList<>();

        @Bean
        @Order(2)
        RpcServerCustomizer second() {
            return server -> {
                seen.add("second");
                server.workers(8, 8);
            };
        }

        @Bean
        @Order(1)
        RpcServerCustomizer first() {
            return server -> {
                seen.add("first");
                server.workers(7, 7);
            };
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ShortTimeout {
        @Bean
        RpcClientCustomizer shortTimeout() {
            return client -> client.timeout(Duration.ofMillis(200));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ClientFilters {
        final List<String> seen = new CopyOnWriteArrayList<>();

        @Bean
        @Order(2)
        ClientFilter inner() {
            return (call, next) -> noting(seen, "inner", call, next);
        }

        @Bean
        @Order(1)
        ClientFilter outer() {
            return (call, next) -> noting(seen, "outer", call, next);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ServerFilters {
        final List<String> seen = new CopyOnWriteArrayList<>();

        @Bean
        @Order(2)
        ServerFilter inner() {
            return (call, next) -> noting(seen, "inner", call, next);
        }

        @Bean
        @Order(1)
        ServerFilter outer() {
            return (call, next) -> noting(seen, "outer", call, next);
        }
    }

    static CompletionStage<Response> noting(List<String> seen, String name, Invocation call, Invoker next) {
        seen.add(name + " in");
        return next.invoke(call).whenComplete((response, failure) -> seen.add(name + " out"));
    }
}
