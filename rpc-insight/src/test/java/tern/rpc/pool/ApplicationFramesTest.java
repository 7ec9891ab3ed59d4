package tern.rpc.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ApplicationFramesTest {

    private static StackTraceElement[] stack(String... frames) {
        return Stream.of(frames)
                .map(frame -> frame.split("/"))
                .map(parts -> new StackTraceElement(parts[0], parts[1], null, 7))
                .toArray(StackTraceElement[]::new);
    }

    private static List<String> methods(String... frames) {
        return ApplicationFrames.of(stack(frames)).all().stream()
                .map(ApplicationCode::method)
                .toList();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "org.apache.catalina.core.ApplicationFilterChain/doFilter",
                "org.springframework.security.web.FilterChainProxy$VirtualFilterChain/doFilter",
                "org.springframework.aop.framework.ReflectiveMethodInvocation/proceed",
                "org.springframework.aop.aspectj.MethodInvocationProceedingJoinPoint/proceed",
                "okhttp3.internal.http.RealInterceptorChain/proceed",
                "org.springframework.web.server.handler.DefaultWebFilterChain/filter",
                "org.springframework.http.client.InterceptingClientHttpRequest$InterceptingRequestExecution/execute",
                "tern.rpc.Filter/lambda$chain$0",
                "tern.rpc.client.ReferenceMethods/lambda$filtered$2"
            })
    void frameThatOnlyPassesTheCallOnIsNotTheApplicationsWork(String next) {
        assertThat(methods(
                        "org.hibernate.Session/list",
                        next,
                        "depot.Tracing/around",
                        "org.springframework.some.Caller/invoke",
                        "depot.Orders/list"))
                .containsExactly("Orders.list");
    }

    @Test
    void frameThatPassesTheCallOnThroughAMethodOfItsOwnIsNotTheApplicationsWork() {
        assertThat(methods(
                        "org.apache.catalina.core.ApplicationFilterChain/doFilter",
                        "depot.TraceFilter/lambda$doFilterInternal$0",
                        "depot.Trace/with",
                        "depot.TraceFilter/doFilterInternal",
                        "org.springframework.web.filter.OncePerRequestFilter/doFilter"))
                .isEmpty();
    }

    @Test
    void filterThatWorksItselfIsTheApplicationsWork() {
        assertThat(methods(
                        "java.util.regex.Matcher/find",
                        "depot.TraceFilter/doFilterInternal",
                        "org.springframework.web.filter.OncePerRequestFilter/doFilter"))
                .containsExactly("TraceFilter.doFilterInternal");
    }

    @Test
    void codeInsideOfAFilterIsTheApplicationsWork() {
        assertThat(methods(
                        "depot.Orders/list",
                        "org.apache.catalina.core.ApplicationFilterChain/doFilter",
                        "depot.TraceFilter/doFilterInternal"))
                .containsExactly("Orders.list");
    }

    @Test
    void stackWithAKnownPackageContainsApplicationCodeInKnownPackagesOnly() {
        ApplicationCode.addPackages(List.of("com.acmeframes.shop.app", "io.github.acmeframes.shop", ""));

        assertThat(methods("unknown.lib.Throttle/consume", "com.acmeframes.billing.Orders/place"))
                .containsExactly("Orders.place");
        assertThat(methods("io.github.somebody.Throttle/consume", "io.github.acmeframes.tools.Orders/place"))
                .containsExactly("Orders.place");
        assertThat(methods("unknown.lib.Throttle/consume", "java.lang.Thread/run"))
                .containsExactly("Throttle.consume");
    }
}
