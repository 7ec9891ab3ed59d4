package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cloud.context.environment.EnvironmentChangeEvent;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.MapPropertySource;
import tern.rpc.RpcException;
import tern.rpc.RpcMethod;
import tern.rpc.client.RpcClient;
import tern.rpc.cluster.ClusterReport;
import tern.rpc.spring.RpcReference;

/** Tests changes of timeouts and weights while the application is running. */
class EnvironmentChangesTest {

    interface Stock {
        int left(String item);

        int ordered(String item);

        @RpcMethod(timeout = "700ms")
        int sold(String item);
    }

    static class Shop {

        @RpcReference
        Stock stock;
    }

    private final ApplicationContextRunner runner = Applications.application(Shop.class)
            .withPropertyValues(
                    "rpc.client.services.stock.url=127.0.0.1:1?weight=50,127.0.0.1:2",
                    "rpc.client.services.stock.wait-for-ready=true",
                    "rpc.client.services.stock.methods.ordered.timeout=40ms",
                    "rpc.client.timeout=30ms");

    private static void change(ConfigurableApplicationContext context, Map<String, Object> properties) {
        context.getEnvironment().getPropertySources().remove("changed");
        context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("changed", properties));
        context.publishEvent(new EnvironmentChangeEvent(context));
    }

    private static List<Integer> weights(ApplicationContext context) {
        return context.getBean(RpcClient.class).references().get(0).cluster().providers().stream()
                .map(ClusterReport.Provider::attributes)
                .map(attributes -> attributes.weight())
                .toList();
    }

    private static Stock stock(ApplicationContext context) {
        return context.getBean(Shop.class).stock;
    }

    @Test
    void changedTimeoutsAreInForceAtOnce() {
        runner.run(context -> {
            ConfigurableApplicationContext running = context.getSourceApplicationContext();
            assertThatThrownBy(() -> stock(context).left("x")).hasMessageContaining("30 ms (rpc.client.timeout)");

            change(running, Map.of("rpc.client.timeout", "20ms"));

            assertThatThrownBy(() -> stock(context).left("x"))
                    .isInstanceOf(RpcException.class)
                    .hasMessageContaining("20 ms (changed properties rpc.client…)");
            assertThatThrownBy(() -> stock(context).ordered("x"))
                    .hasMessageContaining("40 ms (rpc.client.services.stock.methods.ordered.timeout)");
            assertThatThrownBy(() -> stock(context).sold("x")).hasMessageContaining("700 ms (@RpcMethod");

            change(running, Map.of("rpc.client.services.stock.methods.ordered.timeout", "10ms"));

            assertThatThrownBy(() -> stock(context).left("x")).hasMessageContaining("30 ms (rpc.client.timeout)");
            assertThatThrownBy(() -> stock(context).ordered("x"))
                    .hasMessageContaining("10 ms (changed properties rpc.client…)");
        });
    }

    @Test
    void changedWeightsOfAddressesAreInForceAtOnce() {
        runner.run(context -> {
            ConfigurableApplicationContext running = context.getSourceApplicationContext();
            assertThat(weights(context)).containsExactly(50, 100);

            change(running, Map.of("rpc.client.services.stock.url", "127.0.0.1:1?weight=50,127.0.0.1:2?weight=7"));
            assertThat(weights(context)).containsExactly(50, 7);

            change(running, Map.of());
            assertThat(weights(context)).containsExactly(50, 100);
        });
    }

    @Test
    void wrongValuesChangeNothing() {
        runner.run(context -> {
            ConfigurableApplicationContext running = context.getSourceApplicationContext();

            change(running, Map.of("rpc.client.timeout", "0s"));
            change(running, Map.of("rpc.client.services.stock.url", "not an address"));

            assertThat(weights(context)).containsExactly(50, 100);
            assertThatThrownBy(() -> stock(context).left("x")).hasMessageContaining("30 ms (rpc.client.timeout)");
        });
    }
}
