package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tern.rpc.RpcMethod;
import tern.rpc.spring.RpcFallback;
import tern.rpc.spring.RpcReference;

@ExtendWith(OutputCaptureExtension.class)
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

    @RpcFallback(forInterface = Stock.class, group = "other")
    static class OtherGroup extends NothingLeft {}

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

    /** A service whose interface is visible only in its package. */
    interface HiddenStock {
        int left(String item);

        @RpcMethod(local = true)
        default String text(String item) {
            return left(item) + " of " + item;
        }
    }

    @RpcFallback(forInterface = HiddenStock.class)
    static class NothingHiddenLeft implements HiddenStock {
        @Override
        public int left(String item) {
            if (item.isEmpty()) {
                throw new IllegalArgumentException("no item");
            }
            return 0;
        }
    }

    static class HiddenShop {
        @RpcReference
        HiddenStock stock;
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
    void interfaceOfFallbackAndOfLocalMethodNeedNotBePublic() {
        consumer(HiddenShop.class, NothingHiddenLeft.class).run(context -> {
            HiddenStock stock = context.getBean(HiddenShop.class).stock;

            assertThat(stock.left("tea")).isZero();
            assertThat(stock.text("tea")).isEqualTo("0 of tea");
            assertThatThrownBy(() -> stock.text(""))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("no item");
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
    void fallbackThatNoReferenceCanUseIsNamedAtTheStart(CapturedOutput output) {
        consumer(Shop.class, NothingLeft.class, OtherGroup.class)
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output)
                .contains("@RpcFallback of bean 'rpcFallbackTest.OtherGroup' is for other/" + Stock.class.getName()
                        + ", but no reference calls this service; there are references to " + Stock.class.getName())
                .doesNotContain("rpcFallbackTest.NothingLeft' is for");
    }

    @Test
    void fallbackWithoutAnyReferenceIsNamedAtTheStart(CapturedOutput output) {
        consumer(NothingLeft.class).run(context -> assertThat(context).hasNotFailed());

        assertThat(output).contains("but no reference calls this service; there is no reference");
    }

    @Test
    void secondFallbackOfAServiceStopsTheStart() {
        consumer(TwoFallbacks.class)
                .run(context -> assertThat(context.getStartupFailure())
                        .hasMessageContaining("'one' and 'two'")
                        .hasMessageContaining(Stock.class.getName()));
    }
}
