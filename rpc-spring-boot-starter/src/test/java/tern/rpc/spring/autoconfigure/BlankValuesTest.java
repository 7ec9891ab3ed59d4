package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import tern.rpc.cluster.Policies;
import tern.rpc.spring.RpcReference;

/** Tests that a blank text counts as not set, and that the name of a policy may have any of Spring's spellings. */
@ExtendWith(OutputCaptureExtension.class)
class BlankValuesTest {

    static class Visitor {
        @RpcReference
        GreetingService greetings;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "rpc.client.zone",
                "rpc.client.load-balancing",
                "rpc.client.registry",
                "rpc.client.registries.east",
                "rpc.client.registry-cache",
                "rpc.client.services.greeting-service.load-balancing",
                "rpc.client.services.greeting-service.tag",
                "rpc.client.services.greeting-service.hash-key",
                "rpc.client.services.greeting-service.registry",
                "rpc.client.services.greeting-service.level",
                "rpc.client.services.greeting-service.provided-by",
                "rpc.client.services.greeting-service.methods.greet.hash-key",
                "rpc.server.max-concurrency",
                "rpc.server.services.greeting-service.methods.greet.max-concurrency",
                "rpc.server.advertise.host",
                "rpc.server.advertise.zone",
                "rpc.server.registry.level",
            })
    void blankTextCountsAsNotSet(String property, CapturedOutput output) {
        provider(Greeter.class, Visitor.class)
                .withPropertyValues("rpc.client.url=local", property + "=${VARIABLE_THAT_IS_NOT_SET:}")
                .run(there -> assertThat(there.getBean(Visitor.class).greetings.greet("Ada"))
                        .isEqualTo("Hello Ada"));

        assertThat(output).doesNotContain(property);
    }

    @Test
    void blankPolicyIsTheDefault() {
        provider(Greeter.class)
                .withPropertyValues(
                        "rpc.client.load-balancing= ", "rpc.client.services.greeting-service.load-balancing=")
                .run(there -> {
                    RpcClientProperties properties = there.getBean(RpcClientProperties.class);
                    assertThat(properties.loadBalancing()).isEqualTo(Policies.P2C);
                    assertThat(properties.services().get("greeting-service").loadBalancing())
                            .isNull();
                });
    }

    @ParameterizedTest
    @ValueSource(strings = {"P2C", "round_robin", "ROUND_ROBIN", "roundRobin", "roundrobin", "Consistent-Hash"})
    void policyIsReadInEverySpelling(String policy) {
        provider(Greeter.class, Visitor.class)
                .withPropertyValues("rpc.client.url=local", "rpc.client.load-balancing=" + policy)
                .run(there -> assertThat(there.getBean(Visitor.class).greetings.greet("Ada"))
                        .isEqualTo("Hello Ada"));
    }
}
