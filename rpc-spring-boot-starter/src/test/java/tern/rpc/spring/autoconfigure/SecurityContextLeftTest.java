package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.consumerOf;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.MDC;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.core.context.SecurityContextHolder;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/** Tests that a call does not get the security context that an earlier method has left on the same thread. */
class SecurityContextLeftTest {

    /**
     * A service that reads the user from the thread's security contexts, stores its own caller in them, and does not
     * clear them.
     */
    @RpcService
    static class Careless implements GreetingService {

        @Override
        public String greet(String name) {
            String found = SecurityContextHolder.getContext().getAuthentication() + " " + MDC.get("user");
            SecurityContextHolder.getContext()
                    .setAuthentication(UsernamePasswordAuthenticationToken.unauthenticated(name, "secret"));
            MDC.put("user", name);
            return found;
        }
    }

    static class Caller {

        @RpcReference
        GreetingService greetings;
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri", "http"})
    void securityContextOfACallIsNotSeenByTheNextCaller(String protocol) {
        provider(Careless.class)
                .withPropertyValues("rpc.server.threads=1", "rpc.server.max-queue-wait=20s")
                .run(there -> consumerOf(there, Caller.class)
                        .withPropertyValues(
                                "rpc.client.timeout=20s",
                                "rpc.client.url=" + protocol + "://" + Applications.addressOf(there))
                        .run(here -> {
                            GreetingService greetings = here.getBean(Caller.class).greetings;

                            for (int round = 0; round < 3; round++) {
                                assertThat(greetings.greet("Ada")).isEqualTo("null null");
                            }
                        }));
    }
}
