package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static tern.rpc.spring.autoconfigure.Applications.consumerOf;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.framework.autoproxy.DefaultAdvisorAutoProxyCreator;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.security.authentication.AuthenticationManager;
import org.springframework.security.authentication.AuthenticationServiceException;
import org.springframework.security.authentication.BadCredentialsException;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.authorization.method.AuthorizationManagerBeforeMethodInterceptor;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.authority.AuthorityUtils;
import org.springframework.security.core.context.SecurityContextHolder;
import tern.rpc.CallOptions;
import tern.rpc.RpcAuthorizer;
import tern.rpc.RpcException;
import tern.rpc.ServerContext;
import tern.rpc.StatusCode;
import tern.rpc.spring.AuthenticationAuthorizer;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/** Tests tokens in properties, authorizers as beans, and Spring Security. */
@ExtendWith(OutputCaptureExtension.class)
class RpcIdentityTest {

    private static RpcException refusedBy(ApplicationContext provider, String... properties) {
        RpcException[] refusal = new RpcException[1];
        consumer(provider, properties)
                .run(here -> refusal[0] = catchThrowableOfType(RpcException.class, () -> greet(here)));
        assertThat(refusal[0]).isNotNull();
        return refusal[0];
    }

    private static ApplicationContextRunner consumer(ApplicationContext provider, String... properties) {
        return consumerOf(provider, Caller.class)
                .withPropertyValues("rpc.client.timeout=20s")
                .withPropertyValues(properties);
    }

    private static String greet(ApplicationContext consumer) {
        return consumer.getBean(Caller.class).greetings.greet("Ada");
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri", "http"})
    void tokensOfBothSidesHaveToAgree(String protocol) {
        provider(Greeter.class)
                .withPropertyValues("rpc.server.token=old-secret,new-secret")
                .run(there -> {
                    String url = "rpc.client.url=" + protocol + "://" + Applications.addressOf(there);

                    assertThat(refusedBy(there, url).code()).isEqualTo(StatusCode.UNAUTHENTICATED);
                    assertThat(refusedBy(there, url, "rpc.client.token=guess").code())
                            .isEqualTo(StatusCode.UNAUTHENTICATED);
                    for (String token : List.of("old-secret", "new-secret")) {
                        consumer(there, url, "rpc.client.token=" + token)
                                .run(here -> assertThat(greet(here)).isEqualTo("Hello Ada"));
                    }
                });
    }

    @Test
    void tokenOfAServiceWinsOverTheTokenOfTheClient() {
        provider(Greeter.class)
                .withPropertyValues("rpc.server.token=secret")
                .run(there -> consumer(
                                there,
                                "rpc.client.token=of-others",
                                "rpc.client.services.greeting-service.token=secret")
                        .run(here -> assertThat(greet(here)).isEqualTo("Hello Ada")));
    }

    @Test
    void settingsDoNotShowTheirTokens() {
        provider(Greeter.class)
                .withPropertyValues(
                        "rpc.server.token=secret", "rpc.client.token=secret", "rpc.client.services.x.token=secret")
                .run(there -> {
                    for (Class<?> type : List.of(
                            RpcServerProperties.class,
                            RpcClientProperties.class,
                            ServerSettings.class,
                            ClientSettings.class)) {
                        assertThat(there.getBean(type).toString())
                                .doesNotContain("=secret")
                                .contains("(secret)");
                    }
                });
    }

    // The following tests cover authorizers.

    @Configuration(proxyBeanMethods = false)
    static class Authorizers {

        final List<String> asked = new CopyOnWriteArrayList<>();

        @Bean
        @Order(2)
        RpcAuthorizer second() {
            return call -> {
                asked.add("second");
                if (call.metadata().contains("stranger")) {
                    throw RpcAuthorizer.denied("not for strangers");
                }
                return null;
            };
        }

        @Bean
        @Order(1)
        RpcAuthorizer first() {
            return call -> {
                asked.add("first");
                return null;
            };
        }
    }

    @Test
    void authorizersAreBeansInTheirOrder() {
        provider(Greeter.class, Authorizers.class)
                .run(there -> consumer(there).run(here -> {
                    GreetingService greetings = here.getBean(Caller.class).greetings;

                    assertThat(greetings.greet("Ada")).isEqualTo("Hello Ada");
                    assertThat(there.getBean(Authorizers.class).asked).containsExactly("first", "second");
                    GreetingService stranger =
                            CallOptions.none().header("stranger", "yes").on(greetings);
                    assertThat(catchThrowableOfType(RpcException.class, () -> stranger.greet("Eve"))
                                    .code())
                            .isEqualTo(StatusCode.PERMISSION_DENIED);
                }));
    }

    // Tests of Spring Security

    @Configuration(proxyBeanMethods = false)
    static class Security {

        @Bean
        AuthenticationManager manager() {
            return shown -> switch (String.valueOf(shown.getCredentials())) {
                case "ada-token" ->
                    UsernamePasswordAuthenticationToken.authenticated(
                            "ada", null, AuthorityUtils.createAuthorityList("ROLE_USER"));
                case "down" -> throw new AuthenticationServiceException("directory 10.1.2.3 is down");
                case "unsure" -> shown;
                default -> throw new BadCredentialsException("bad credentials " + shown.getCredentials());
            };
        }

        @Bean
        RpcAuthorizer rpcSecurity(AuthenticationManager manager) {
            return new AuthenticationAuthorizer(
                    manager,
                    call -> call.bearerToken() == null
                            ? null
                            : UsernamePasswordAuthenticationToken.unauthenticated("", call.bearerToken()));
        }
    }

    /** Returns the caller's name, both from the server context and from Spring Security. */
    @RpcService
    static class Namer implements GreetingService {

        @Override
        public String greet(String name) {
            Authentication caller = SecurityContextHolder.getContext().getAuthentication();
            String principal = Objects.requireNonNull(
                            Objects.requireNonNull(ServerContext.current()).principal())
                    .getName();
            return caller.getName() + " " + caller.getAuthorities() + " " + principal;
        }
    }

    @Test
    void methodRunsInTheSecurityContextOfItsCaller() {
        provider(Namer.class, Security.class)
                .run(there -> consumer(
                                there,
                                "rpc.client.url=tri://" + Applications.addressOf(there),
                                "rpc.client.token=ada-token")
                        .run(here -> {
                            assertThat(greet(here)).isEqualTo("ada [ROLE_USER] ada");
                            assertThat(SecurityContextHolder.getContext().getAuthentication())
                                    .isNull();
                        }));
    }

    @Test
    void callThatSpringSecurityDoesNotKnowIsRefused() {
        provider(Namer.class, Security.class).run(there -> {
            String url = "rpc.client.url=tri://" + Applications.addressOf(there);

            assertThat(refusedBy(there, url))
                    .hasMessageContaining("UNAUTHENTICATED")
                    .hasMessageContaining("no credentials");
            assertThat(refusedBy(there, url, "rpc.client.token=guess"))
                    .hasMessageContaining("UNAUTHENTICATED")
                    .hasMessageNotContaining("guess");
            assertThat(refusedBy(there, url, "rpc.client.token=unsure")).hasMessageContaining("UNAUTHENTICATED");
            assertThat(refusedBy(there, url, "rpc.client.token=down"))
                    .hasMessageContaining("INTERNAL")
                    .hasMessageNotContaining("10.1.2.3");
        });
    }

    // This configuration makes Spring Security apply @PreAuthorize.

    @Configuration(proxyBeanMethods = false)
    static class MethodSecurity {

        @Bean
        static AuthorizationManagerBeforeMethodInterceptor preAuthorize() {
            return AuthorizationManagerBeforeMethodInterceptor.preAuthorize();
        }

        @Bean
        static DefaultAdvisorAutoProxyCreator proxies() {
            return new DefaultAdvisorAutoProxyCreator();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Users {

        /**
         * An authorizer that accepts every token. Clients send the token as a header or, over the dubbo protocol, as an
         * attachment.
         */
        @Bean
        RpcAuthorizer users() {
            return new AuthenticationAuthorizer(
                    shown -> UsernamePasswordAuthenticationToken.authenticated(
                            shown.getCredentials(), null, AuthorityUtils.createAuthorityList("ROLE_USER")),
                    call -> {
                        String token = call.bearerToken();
                        return UsernamePasswordAuthenticationToken.unauthenticated(
                                "",
                                token != null
                                        ? token
                                        : Objects.requireNonNull(call.metadata().get("token")));
                    });
        }
    }

    @RpcService
    static class ForAdmins implements GreetingService {

        @Override
        @PreAuthorize("hasRole('ADMIN')")
        public String greet(String name) {
            return "Hello admin " + name;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri", "http"})
    void callerWithoutTheRoleIsDenied(String protocol, CapturedOutput output) {
        provider(ForAdmins.class, MethodSecurity.class, Users.class).run(there -> {
            String url = "rpc.client.url=" + protocol + "://" + Applications.addressOf(there);

            RpcException refused = refusedBy(there, url, "rpc.client.token=ada-token");

            assertThat(refused.code()).isEqualTo(StatusCode.PERMISSION_DENIED);
            assertThat(refused).hasMessageContaining("GreetingService/greet is not allowed for this caller");
            assertThat(output.getAll())
                    .contains("is not allowed for this caller: org.springframework.security.authorization")
                    .doesNotContain("\tat ");
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri", "http"})
    void callerWithoutAuthenticationIsUnauthenticated(String protocol) {
        provider(ForAdmins.class, MethodSecurity.class).run(there -> {
            RpcException refused =
                    refusedBy(there, "rpc.client.url=" + protocol + "://" + Applications.addressOf(there));

            assertThat(refused.code()).isEqualTo(StatusCode.UNAUTHENTICATED);
            assertThat(refused).hasMessageContaining("GreetingService/greet needs an authenticated caller");
        });
    }

    static class Caller {

        @RpcReference
        GreetingService greetings;
    }
}
