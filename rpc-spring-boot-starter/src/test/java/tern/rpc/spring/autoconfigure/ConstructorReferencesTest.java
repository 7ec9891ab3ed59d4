package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.application;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tern.rpc.settings.RpcStartException;
import tern.rpc.spring.RpcReference;

/** Tests references on the parameters of a class with several constructors, and on getters. */
class ConstructorReferencesTest {

    static class WithoutParametersToo {
        WithoutParametersToo() {}

        WithoutParametersToo(@RpcReference GreetingService greetings) {}
    }

    static class OnlyWithParameters {
        OnlyWithParameters(@RpcReference GreetingService greetings) {}

        OnlyWithParameters(@RpcReference GreetingService greetings, @Value("a") String more) {}
    }

    static class Chosen {
        final GreetingService greetings;

        Chosen() {
            this(null);
        }

        @Autowired
        Chosen(@RpcReference GreetingService greetings) {
            this.greetings = greetings;
        }
    }

    static class WithGetter {
        @RpcReference
        @Nullable
        GreetingService getGreetings() {
            return null;
        }
    }

    @Configuration
    static class ByHand {
        @Bean
        WithoutParametersToo made(@RpcReference GreetingService greetings) {
            return new WithoutParametersToo(greetings);
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {WithoutParametersToo.class, OnlyWithParameters.class})
    void constructorThatSpringDoesNotCallStopsTheStart(Class<?> bean) {
        application(bean)
                .withPropertyValues("rpc.client.url=127.0.0.1:1")
                .run(there -> assertThat(there.getStartupFailure())
                        .rootCause()
                        .isInstanceOf(RpcStartException.class)
                        .hasMessageContaining(bean.getName() + " has @RpcReference on a parameter of a constructor")
                        .hasMessageContaining(bean.getSimpleName() + "(GreetingService)"));
    }

    @Test
    void annotatedConstructorGetsTheReference() {
        application(Chosen.class)
                .withPropertyValues("rpc.client.url=127.0.0.1:1")
                .run(there -> assertThat(there.getBean(Chosen.class).greetings).isNotNull());
    }

    @Test
    void getterStopsTheStart() {
        application(WithGetter.class)
                .withPropertyValues("rpc.client.url=127.0.0.1:1")
                .run(there -> assertThat(there.getStartupFailure())
                        .rootCause()
                        .hasMessageContaining("WithGetter.getGreetings has @RpcReference, but no parameter"));
    }

    @Test
    void beanMethodNeedsNoAnnotatedConstructor() {
        application(ByHand.class)
                .withPropertyValues("rpc.client.url=127.0.0.1:1")
                .run(there -> assertThat(there).hasNotFailed());
    }
}
