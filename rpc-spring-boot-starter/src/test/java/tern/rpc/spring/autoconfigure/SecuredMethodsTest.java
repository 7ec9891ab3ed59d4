package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import jakarta.annotation.security.RolesAllowed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.access.annotation.Secured;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.security.authorization.method.AuthorizationAdvisor;
import org.springframework.security.authorization.method.AuthorizationManagerBeforeMethodInterceptor;
import tern.rpc.RpcAuthorizer;
import tern.rpc.ServerFilter;
import tern.rpc.spring.RpcServerCustomizer;
import tern.rpc.spring.RpcService;

/** Tests the warnings about Spring Security annotations that have no effect or refuse every call. */
@ExtendWith(OutputCaptureExtension.class)
class SecuredMethodsTest {

    private static final String WITHOUT_EFFECT = "have no effect, because method security is not active";
    private static final String IGNORED = "have no effect, because method security does not apply them";
    private static final String REFUSED = "as UNAUTHENTICATED, because nothing authenticates the callers";

    @ParameterizedTest
    @ValueSource(classes = {OnMethod.class, OnClass.class, OnSuperclass.class, OnMethodOfJakarta.class})
    void annotationWithoutMethodSecurityIsReported(Class<?> service, CapturedOutput output) {
        provider(service).run(there -> assertThat(there).hasNotFailed());

        assertThat(output)
                .containsOnlyOnce(WITHOUT_EFFECT)
                .contains(service.getSimpleName() + ".greet (@", "@EnableMethodSecurity")
                .doesNotContain(REFUSED);
    }

    @Test
    void annotationWithoutAuthenticationIsReported(CapturedOutput output) {
        provider(OnMethod.class, MethodSecurity.class)
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output)
                .containsOnlyOnce(REFUSED)
                .contains("calls of OnMethod.greet (@PreAuthorize)", "AuthenticationAuthorizer")
                .doesNotContain(WITHOUT_EFFECT);
    }

    @ParameterizedTest
    @ValueSource(classes = {Authorizer.class, Filter.class, Customizer.class})
    void applicationThatMayAuthenticateIsNotWarned(Class<?> authenticating, CapturedOutput output) {
        provider(OnMethod.class, MethodSecurity.class, authenticating)
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output).doesNotContain(REFUSED).doesNotContain(WITHOUT_EFFECT);
    }

    /** Method security applies {@code @Secured} only if the application enables it. */
    @Test
    void rolesAreNotSaidToRefuseCalls(CapturedOutput output) {
        provider(OnClass.class, MethodSecurity.class)
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output).doesNotContain(REFUSED).doesNotContain(WITHOUT_EFFECT);
    }

    @ParameterizedTest
    @ValueSource(classes = {OnClass.class, OnMethodOfJakarta.class})
    void annotationThatMethodSecurityDoesNotApplyIsReported(Class<?> service, CapturedOutput output) {
        provider(service, OnlyExpressions.class).run(there -> assertThat(there).hasNotFailed());

        assertThat(output)
                .containsOnlyOnce(IGNORED)
                .contains(service.getSimpleName() + ".greet (@", "securedEnabled = true", "jsr250Enabled = true")
                .doesNotContain(REFUSED);
    }

    @ParameterizedTest
    @ValueSource(classes = {OnClass.class, OnMethodOfJakarta.class, OnMethod.class})
    void annotationThatMethodSecurityAppliesIsNotReported(Class<?> service, CapturedOutput output) {
        provider(service, AllAnnotations.class).run(there -> assertThat(there).hasNotFailed());

        assertThat(output).doesNotContain(IGNORED);
    }

    @Test
    void methodThatPermitsAllCallsIsNotReported(CapturedOutput output) {
        provider(Open.class, MethodSecurity.class)
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output).doesNotContain(REFUSED).doesNotContain(WITHOUT_EFFECT);
    }

    @Test
    void rolesOfJakartaThatAFilterMayApplyAreNotReported(CapturedOutput output) {
        provider(OnMethodOfJakarta.class, Filter.class)
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output).doesNotContain(WITHOUT_EFFECT);
    }

    @Test
    void annotationsThatAnInterceptorAppliesAreNotReported(CapturedOutput output) {
        provider(OnMethod.class, MethodSecurityInterceptor.class)
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output).doesNotContain(REFUSED).doesNotContain(WITHOUT_EFFECT);
    }

    @Test
    void serviceWithoutAnnotationsIsNotWarned(CapturedOutput output) {
        provider(Greeter.class, MethodSecurity.class)
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output).doesNotContain(REFUSED).doesNotContain(WITHOUT_EFFECT);
    }

    /** Method security as {@code @EnableMethodSecurity} configures it. */
    @Configuration(proxyBeanMethods = false)
    static class OnlyExpressions {
        @Bean
        AuthorizationAdvisor expressions() {
            return AuthorizationManagerBeforeMethodInterceptor.preAuthorize();
        }
    }

    /** Method security with {@code securedEnabled} and {@code jsr250Enabled}. */
    @Configuration(proxyBeanMethods = false)
    static class AllAnnotations extends OnlyExpressions {
        @Bean
        AuthorizationAdvisor secured() {
            return AuthorizationManagerBeforeMethodInterceptor.secured();
        }

        @Bean
        AuthorizationAdvisor jakarta() {
            return AuthorizationManagerBeforeMethodInterceptor.jsr250();
        }
    }

    @RpcService
    static class OnMethod implements GreetingService {
        @Override
        @PreAuthorize("hasRole('USER')")
        public String greet(String name) {
            return name;
        }
    }

    @RpcService
    @Secured("ROLE_USER")
    static class OnClass implements GreetingService {
        @Override
        public String greet(String name) {
            return name;
        }
    }

    @RpcService
    static class OnSuperclass extends OnMethod {}

    @RpcService
    @PreAuthorize("hasRole('USER')")
    static class Open implements GreetingService {
        @Override
        @PreAuthorize("permitAll()")
        public String greet(String name) {
            return name;
        }
    }

    @RpcService
    static class OnMethodOfJakarta implements GreetingService {
        @Override
        @RolesAllowed("USER")
        public String greet(String name) {
            return name;
        }
    }

    /** Replaces Spring Security's class of the same name. */
    static class MethodSecurityInterceptor {}

    @Configuration(proxyBeanMethods = false)
    static class Customizer {
        @Bean
        RpcServerCustomizer customizer() {
            return server -> {};
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class MethodSecurity {
        @Bean
        static AuthorizationAdvisor advisor() {
            return mock(AuthorizationAdvisor.class);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Authorizer {
        @Bean
        RpcAuthorizer authorizer() {
            return call -> null;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Filter {
        @Bean
        ServerFilter filter() {
            return (call, next) -> next.invoke(call);
        }
    }
}
