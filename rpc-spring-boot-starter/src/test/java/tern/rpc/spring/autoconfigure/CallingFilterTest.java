package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static tern.rpc.spring.autoconfigure.Applications.consumerOf;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import tern.rpc.ClientFilter;
import tern.rpc.Invocation;
import tern.rpc.Invoker;
import tern.rpc.Response;
import tern.rpc.ServerContext;
import tern.rpc.ServerFilter;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;
import tools.jackson.databind.json.JsonMapper;

/** Tests filters that make calls, and filters that fail. */
@ExtendWith(OutputCaptureExtension.class)
class CallingFilterTest {

    public interface TokenService {
        String token();
    }

    public interface Shop {
        String token();
    }

    @RpcService
    static class Tokens implements TokenService {
        @Override
        public String token() {
            return "t1";
        }
    }

    @RpcService
    static class ShopOfToken implements Shop {
        @Override
        public String token() {
            ServerContext context = ServerContext.current();
            return context == null ? "" : String.valueOf(context.metadata().get("x-token"));
        }
    }

    static class User {
        @RpcReference
        Shop shop;
    }

    static class EagerFilter implements ClientFilter {
        @RpcReference
        TokenService tokens;

        @Override
        public CompletionStage<Response> invoke(Invocation call, Invoker next) {
            return next.invoke(call);
        }
    }

    static class LaterFilter implements ClientFilter {
        @RpcReference
        ObjectProvider<TokenService> tokens;

        @Override
        public CompletionStage<Response> invoke(Invocation call, Invoker next) {
            if (!call.service().interfaceName().equals(TokenService.class.getName())) {
                call.metadata().put("x-token", tokens.getObject().token());
            }
            return next.invoke(call);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({User.class, EagerFilter.class})
    static class UserFirst {}

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({EagerFilter.class, User.class})
    static class FilterFirst {}

    @Test
    void referenceInAFilterIsExplained(CapturedOutput output) {
        for (Class<?> application : new Class<?>[] {UserFirst.class, FilterFirst.class}) {
            int before = output.length();

            assertThatThrownBy(() -> new SpringApplicationBuilder(application)
                            .web(WebApplicationType.NONE)
                            .run("--rpc.client.url=127.0.0.1:1"))
                    .isNotNull();

            assertThat(output.toString().substring(before))
                    .contains(EagerFilter.class.getName() + ".tokens refers to " + TokenService.class.getName()
                            + ", but the client needs this bean before it can create references")
                    .contains(
                            "Inject @RpcReference ObjectProvider<TokenService>, and call getObject() on it during each"
                                    + " call.");
        }
    }

    static class MapperSettings {
        @RpcReference
        TokenService tokens;
    }

    @Configuration(proxyBeanMethods = false)
    static class Json {
        @Bean
        JsonMapper jsonMapper(MapperSettings settings) {
            return new JsonMapper();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({User.class, MapperSettings.class, Json.class})
    static class UserBeforeJson {}

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({Json.class, MapperSettings.class, User.class})
    static class JsonBeforeUser {}

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "UserBeforeJson | a bean that the client uses, such as a JsonMapper, needs it",
                "JsonBeforeUser | rpcJsonCodec needs jsonMapper"
            })
    void referenceInABeanForJsonIsNotExplainedAsAFilter(String application, String reason, CapturedOutput output)
            throws ClassNotFoundException {
        Class<?> configuration = Class.forName(CallingFilterTest.class.getName() + "$" + application);

        assertThatThrownBy(() -> new SpringApplicationBuilder(configuration)
                        .web(WebApplicationType.NONE)
                        .run("--rpc.client.url=127.0.0.1:1"))
                .isNotNull();

        assertThat(output)
                .contains("but the client needs this bean before it can create references: ")
                .contains(reason)
                .contains("Inject @RpcReference ObjectProvider<TokenService>")
                .doesNotContain("ClientFilter");
    }

    @Test
    void filterCallsAServiceThroughAnObjectProvider() {
        provider(Tokens.class, ShopOfToken.class)
                .run(there -> consumerOf(there, User.class, LaterFilter.class)
                        .run(here -> assertThat(here.getBean(User.class).shop.token())
                                .isEqualTo("t1")));
    }

    static class ThrowingFilter implements ServerFilter {
        @Override
        public CompletionStage<Response> invoke(Invocation call, Invoker next) {
            throw new IllegalStateException("no audit");
        }
    }

    static class LateThrowingFilter implements ServerFilter {
        @Override
        public CompletionStage<Response> invoke(Invocation call, Invoker next) {
            return next.invoke(call).thenCompose(response -> CompletableFuture.failedFuture(new Unknown()));
        }
    }

    /** An exception whose class callers do not know. */
    private static final class Unknown extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    @RpcService
    static class Failing implements Shop {
        @Override
        public String token() {
            throw new IllegalStateException("no token");
        }
    }

    @Test
    void logNamesTheFilterThatThrewTheException(CapturedOutput output) {
        for (Class<?> filter : new Class<?>[] {ThrowingFilter.class, LateThrowingFilter.class}) {
            provider(ShopOfToken.class, filter)
                    .run(there -> consumerOf(there, User.class)
                            .run(here -> assertThatThrownBy(
                                            () -> here.getBean(User.class).shop.token())
                                    .isNotNull()));

            assertThat(output)
                    .contains("the filter " + filter.getName() + " around Shop/token failed with an exception that ");
        }
    }

    static class PassingFilter implements ServerFilter {
        @Override
        public CompletionStage<Response> invoke(Invocation call, Invoker next) {
            return next.invoke(call);
        }
    }

    @Test
    void logNamesTheMethodThatThrewTheExceptionBehindAFilter(CapturedOutput output) {
        provider(Failing.class, PassingFilter.class)
                .run(there -> consumerOf(there, User.class)
                        .run(here -> assertThatThrownBy(
                                        () -> here.getBean(User.class).shop.token())
                                .isNotNull()));

        assertThat(output)
                .contains("Shop/token failed with an exception that it does not declare")
                .doesNotContain("the filter ");
    }
}
