package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.application;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tern.rpc.RpcMethod;
import tern.rpc.settings.RpcStartException;
import tern.rpc.spring.RpcFallback;
import tern.rpc.spring.RpcService;

/** Tests Tern annotations that have no effect on their methods. */
@ExtendWith(OutputCaptureExtension.class)
class AnnotatedMethodsTest {

    @Configuration
    static class ServiceMethod {
        @RpcService
        GreetingService greetings() {
            return name -> name;
        }
    }

    @Configuration
    static class FallbackMethod {
        @RpcFallback(forInterface = GreetingService.class)
        GreetingService greetings() {
            return name -> name;
        }
    }

    @Configuration
    static class BeanMethod {
        @Bean
        @RpcService
        GreetingService greetings() {
            return name -> name;
        }
    }

    interface Timed {
        @RpcMethod(timeout = "1s")
        String time();
    }

    static class Caller {
        @RpcMethod(timeout = "1s")
        public void call() {
            // The test never calls this method.
        }
    }

    static class Repeating implements Timed {
        @Override
        @RpcMethod(timeout = "1s")
        public String time() {
            return "12:00";
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {ServiceMethod.class, FallbackMethod.class})
    void serviceOrFallbackOnAMethodThatIsNoBeanMethodStopsTheStart(Class<?> configuration) {
        application(configuration)
                .run(there -> assertThat(there.getStartupFailure())
                        .rootCause()
                        .isInstanceOf(RpcStartException.class)
                        .hasMessageContaining(configuration.getName() + ".greetings has @Rpc")
                        .hasMessageContaining("is not a @Bean method"));
    }

    @Test
    void beanMethodIsExported() {
        application(BeanMethod.class)
                .withPropertyValues("rpc.server.port=0")
                .run(there -> assertThat(there).hasNotFailed());
    }

    @Test
    void rpcMethodOnAClassThatIsNoServiceIsNamed(CapturedOutput output) {
        application(Caller.class).run(there -> assertThat(there).hasNotFailed());

        assertThat(output).contains("@RpcMethod on " + Caller.class.getName() + ".call of bean");
    }

    @Test
    void copyOfTheAnnotationOfTheInterfaceIsNotNamed(CapturedOutput output) {
        application(Repeating.class).run(there -> assertThat(there).hasNotFailed());

        assertThat(output).doesNotContain("has no effect");
    }
}
