package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.application;

import java.io.InputStream;
import java.io.Serializable;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import tern.rpc.settings.RpcStartException;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/** Tests that the start of an application names the problems of all its services at once. */
class ServiceProblemsTest {

    record Plain(String name) {}

    static class Held implements Serializable {
        Plain plain = new Plain("");
    }

    interface Orders {
        Optional<String> find(InputStream in);

        Map<String, Plain> plain();
    }

    interface Stock {
        void put(Held held);
    }

    interface Prices {
        List<Plain> all();
    }

    interface Fine {
        String text();
    }

    @RpcService
    static class OrderService implements Orders {
        @Override
        public Optional<String> find(InputStream in) {
            return Optional.empty();
        }

        @Override
        public Map<String, Plain> plain() {
            return Map.of();
        }
    }

    @RpcService
    static class StockService implements Stock {
        @Override
        public void put(Held held) {
            // never called
        }
    }

    static class Caller {
        @RpcReference
        Prices prices;

        @RpcReference
        Fine fine;
    }

    static class JsonCaller {
        @RpcReference(protocol = "http")
        Prices prices;
    }

    static class Services {
        @Bean
        OrderService orders() {
            return new OrderService();
        }

        @Bean
        StockService stock() {
            return new StockService();
        }
    }

    static class Everything extends Services {
        @Bean
        Caller caller() {
            return new Caller();
        }
    }

    static class WithJson extends Services {
        @Bean
        JsonCaller caller() {
            return new JsonCaller();
        }
    }

    static class OneService {
        @Bean
        StockService stock() {
            return new StockService();
        }
    }

    private static String failure(Class<?> configuration) {
        StringBuilder text = new StringBuilder();
        ApplicationContextRunner application = application()
                .withPropertyValues("rpc.server.port=0", "rpc.client.url=127.0.0.1:1")
                .withUserConfiguration(configuration);
        application.run(here -> {
            RpcStartException failure = StartFailures.causeOf(here.getStartupFailure());
            text.append(failure.getMessage());
        });
        return text.toString().replace(ServiceProblemsTest.class.getName() + "$", "");
    }

    @Test
    void problemsOfAllServicesAndReferencesAreNamedAtOnce() {
        assertThat(failure(Everything.class)).isEqualTo("""
                3 services have 5 problems:

                Orders, exported by bean 'orders':
                  - Orders.find, parameter 1: java.io.InputStream cannot be sent; pass byte[] or a String
                  - Orders.find, result: java.util.Optional<java.lang.String> cannot be sent; pass the value itself, \
                which may be null
                  - Orders.plain, result: Plain does not implement java.io.Serializable; implement it

                Stock, exported by bean 'stock':
                  - Stock.put, parameter 1, field plain of Held: Plain does not implement java.io.Serializable; \
                implement it

                Prices, called by bean 'caller':
                  - Prices.all, result: Plain does not implement java.io.Serializable; implement it""");
    }

    @Test
    void typesThatAReferenceSendsAsJsonNeedNotBeSerializable() {
        assertThat(failure(WithJson.class))
                .startsWith("2 services have 4 problems:")
                .doesNotContain("Prices");
    }

    @Test
    void singleProblemIsNamedInOneSentence() {
        assertThat(failure(OneService.class))
                .isEqualTo("An exported service cannot be served: Stock.put, parameter 1, field plain of Held: Plain"
                        + " does not implement java.io.Serializable; implement it");
    }
}
