package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import tern.rpc.settings.RpcStartException;
import tern.rpc.spring.RpcService;

/** Tests services with {@code @Async} on methods that Spring cannot run asynchronously. */
class AsyncServicesTest {

    interface Mail {
        String send(String text);
    }

    interface StagedMail {
        CompletionStage<String> send(String text);
    }

    interface PossibleMail {
        void send(String text);

        CompletableFuture<String> sendLater(String text);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    static class Asynchronous {}

    @Configuration(proxyBeanMethods = false)
    @EnableAsync(proxyTargetClass = true)
    static class AsynchronousByCglib {}

    @RpcService
    static class OfMethod implements Mail {
        @Override
        @Async
        public String send(String text) {
            return text;
        }
    }

    @RpcService
    @Async
    static class OfClass implements Mail {
        @Override
        public String send(String text) {
            return text;
        }
    }

    @RpcService
    static class OfStage implements StagedMail {
        @Override
        @Async
        public CompletionStage<String> send(String text) {
            return CompletableFuture.completedStage(text);
        }
    }

    @RpcService
    @Async
    static class Possible implements PossibleMail {
        @Override
        public void send(String text) {
            // The test makes no calls.
        }

        @Override
        public CompletableFuture<String> sendLater(String text) {
            return CompletableFuture.completedFuture(text);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "OfMethod, Asynchronous, String",
        "OfMethod, AsynchronousByCglib, String",
        "OfClass, Asynchronous, String",
        "OfStage, Asynchronous, CompletionStage"
    })
    void methodWhoseResultSpringCannotReturnLaterStopsTheStart(String service, String configuration, String result)
            throws ClassNotFoundException {
        provider(nested(service), nested(configuration)).run(there -> {
            RpcStartException failure = StartFailures.causeOf(there.getStartupFailure());

            assertThat(failure)
                    .hasMessageContaining("Spring runs its method send asynchronously (@Async), but the method returns "
                            + result + ", so each call would fail");
            assertThat(failure.action()).contains("Remove @Async", "CompletableFuture");
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"Possible, Asynchronous", "Possible, AsynchronousByCglib", "OfMethod, OfMethod"})
    void otherMethodsDoNotStopTheStart(String classes) throws ClassNotFoundException {
        String[] names = classes.split(", ");

        provider(nested(names[0]), nested(names[1]))
                .run(there -> assertThat(there).hasNotFailed());
    }

    private static Class<?> nested(String name) throws ClassNotFoundException {
        return Class.forName(AsyncServicesTest.class.getName() + "$" + name);
    }
}
