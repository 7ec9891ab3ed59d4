package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tern.rpc.spring.RpcFallback;
import tern.rpc.spring.RpcReference;

class RpcFallbackTest {

    /** A service that has no provider. */
    public interface Stock {
        int left(String item);
    }

    @RpcFallback(forInterface = Stock.class)
    static class NothingLeft implements Stock {
        @Override
        public int left(String item) {
            return 0;
        }
    }

    @RpcFallback(forInterface = Stock.class)
    static class NoStock {}

    static class Shop {
        final Stock stock;

        @RpcReference
        Stock field;

        Shop(@RpcReference Stock stock) {
            this.stock = stock;
        }
    }

    static class Injected {
        @Autowired
        ObjectProvider<Stock> stock;
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoFallbacks {
        @Bean
        @RpcFallback(forInterface = Stock.class)
        NothingLeft one() {
            return new NothingLeft();
        }

        @Bean
        @RpcFallback(forInterface = Stock.class)
        NothingLeft two() {
            return new NothingLeft();
        }
    }

    private static ApplicationContextRunner consumer(Class<?>... beans) {
        return Applications.application(beans).withPropertyValues("rpc.client.url=127.0.0.1:1");
    }

    @Test
    void fallbackAnswersWhenNoProviderCanBeReached() {
        consumer(Shop.class, NothingLeft.class).run(context -> {
            assertThat(context.getBean(Shop.class).stock.left("tea")).isZero();
            assertThat(context.getBean(Shop.class).field.left("tea")).isZero();
        });
    }

    @Test
    void fallbackIsNoCandidateForInjection() {
        consumer(NothingLeft.class, Injected.class)
                .run(context -> assertThat(context.getBean(Injected.class).stock.getIfAvailable())
                        .isNull());
    }

    @Test
    void fallbackOfTheWrongTypeStopsTheStart() {
        consumer(NoStock.class)
                .run(context -> assertThat(context.getStartupFailure())
                        .hasMessageContaining("@RpcFallback of bean '")
                        .hasMessageContaining(Stock.class.getName())
                        .hasMessageContaining("does not implement"));
    }

    @Test
    void secondFallbackOfAServiceStopsTheStart() {
        consumer(TwoFallbacks.class)
                .run(context -> assertThat(context.getStartupFailure())
                        .hasMessageContaining("'one' and 'two'")
                        .hasMessageContaining(Stock.class.getName()));
    }
}
