package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.application;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.server.SecurityWebFilterChain;
import tern.rpc.RpcAuthorizer;

/** Tests the warning that Spring Security protects only the web port and that the RPC port is unprotected. */
@ExtendWith(OutputCaptureExtension.class)
class WebSecurityTest {

    static final String WARNING = "Spring Security protects only the web port";

    @ParameterizedTest
    @ValueSource(classes = {ServletChain.class, ReactiveChain.class})
    void filterChainWithoutProtectionOfTheRpcPortIsWarnedAbout(Class<?> chain, CapturedOutput output) {
        provider(Greeter.class, chain).run(there -> assertThat(there).hasNotFailed());

        assertThat(output)
                .containsOnlyOnce(WARNING)
                .contains("rpc.server.token", "RpcAuthorizer", "rpc.server.ssl.client-auth=need");
    }

    @Test
    void applicationWithoutAFilterChainIsNotWarned(CapturedOutput output) {
        provider(Greeter.class).run(there -> assertThat(there).hasNotFailed());

        assertThat(output).doesNotContain(WARNING);
    }

    @Test
    void applicationWithoutServicesIsNotWarned(CapturedOutput output) {
        application(ServletChain.class).run(there -> assertThat(there).hasNotFailed());

        assertThat(output).doesNotContain(WARNING);
    }

    @Test
    void serverWithATokenIsProtected(CapturedOutput output) {
        provider(Greeter.class, ServletChain.class)
                .withPropertyValues("rpc.server.token=secret")
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output).doesNotContain(WARNING);
    }

    @Test
    void serverWithAnAuthorizerIsProtected(CapturedOutput output) {
        provider(Greeter.class, ServletChain.class, Authorizer.class)
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output).doesNotContain(WARNING);
    }

    @ParameterizedTest
    @CsvSource({
        "server.ssl.bundle=web, true",
        "server.ssl.key-store=keys.p12, true",
        "server.ssl.certificate=server.crt, true",
        "'server.ssl.bundle=web,server.ssl.enabled=false', false",
        "server.ssl.protocol=TLS, false",
    })
    void tlsOfTheWebPortDoesNotProtectCallsWhichIsSaid(String properties, boolean isSaid, CapturedOutput output) {
        Logger log = (Logger) LoggerFactory.getLogger(RpcServerAutoConfiguration.class);
        log.setLevel(Level.INFO); // By default, the logging configuration of these tests logs only warnings.
        try {
            provider(Greeter.class)
                    .withPropertyValues(properties.split(","))
                    .run(there -> assertThat(there).hasNotFailed());
        } finally {
            log.setLevel(null);
        }

        String text = "The properties below server.ssl protect only the web port. Calls on the RPC port are in clear";
        assertThat(output.getOut().contains(text)).isEqualTo(isSaid);
    }

    @Configuration(proxyBeanMethods = false)
    static class ServletChain {
        @Bean
        @Lazy
        SecurityFilterChain chain() {
            throw new AssertionError("the warning must not create the filter chain");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ReactiveChain {
        @Bean
        SecurityWebFilterChain chain() {
            return new SecurityWebFilterChain() {};
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Authorizer {
        @Bean
        RpcAuthorizer authorizer() {
            return call -> null;
        }
    }
}
