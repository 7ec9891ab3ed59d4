package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tern.rpc.client.RpcClient;
import tern.rpc.server.RpcServer;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/** Tests a parent context and a child context that both use Tern. */
@Timeout(120)
class ContextHierarchyTest {

    @Test
    void contextsWithServicesHaveTheirOwnServers() {
        provider(Greeter.class, Caller.class)
                .withPropertyValues("rpc.client.url=local")
                .run(parent -> {
                    provider(Counter.class, CountingCaller.class)
                            .withParent(parent)
                            .withPropertyValues("rpc.client.url=local")
                            .run(child -> {
                                assertThat(child).hasNotFailed();
                                assertThat(child.getBean(RpcServer.class)).isNotSameAs(parent.getBean(RpcServer.class));
                                assertThat(child.getEnvironment().getProperty("local.rpc.port"))
                                        .isNotEqualTo(parent.getEnvironment().getProperty("local.rpc.port"));
                                assertThat(child.getBean(CountingCaller.class)
                                                .numbers
                                                .twice(2))
                                        .isEqualTo(4);
                            });
                    assertThat(parent.getBean(Caller.class).greetings.greet("Ada"))
                            .as("a call after the end of the child")
                            .isEqualTo("Hello Ada");
                });
    }

    @Test
    void localInAContextWithoutServicesIsTheServerOfTheParent() {
        provider(Greeter.class)
                .run(parent -> provider(Caller.class)
                        .withParent(parent)
                        .withPropertyValues("rpc.client.url=local")
                        .run(child -> assertThat(
                                        child.getBean(Caller.class).greetings.greet("Ada"))
                                .isEqualTo("Hello Ada")));
    }

    @Test
    void clientOfTheParentUnderAnotherNameIsNoSecondCandidate() {
        provider(Greeter.class, OtherClient.class)
                .run(parent -> provider(Caller.class)
                        .withParent(parent)
                        .withPropertyValues("rpc.client.url=local")
                        .run(child -> {
                            assertThat(child).hasNotFailed();
                            assertThat(child.getBean(Caller.class).greetings.greet("Ada"))
                                    .isEqualTo("Hello Ada");
                        }));
    }

    interface Numbers {
        int twice(int number);
    }

    @RpcService
    static class Counter implements Numbers {
        @Override
        public int twice(int number) {
            return 2 * number;
        }
    }

    static class Caller {
        @RpcReference
        GreetingService greetings;
    }

    static class CountingCaller {
        @RpcReference
        Numbers numbers;
    }

    @Configuration(proxyBeanMethods = false)
    static class OtherClient {
        @Bean
        RpcClient clientOfTheApplication() {
            return RpcClient.builder().build();
        }
    }
}
