package tern.rpc.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import tern.rpc.MethodDescriptor;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;

class MethodCallsTest {

    interface Shop {
        void order();
    }

    private static final ServiceKey SHOP = new ServiceKey(Shop.class.getName(), "", "");
    private static final MethodDescriptor ORDER =
            ServiceDescriptor.of(Shop.class).methods().get(0);

    private final RpcMeters meters = RpcMeters.withoutRegistry();

    @Test
    void protocolsOfOneMethodAreCountedTogether() {
        meters.server(SHOP, ORDER, "dubbo").ended(null, 1_000);
        meters.server(SHOP, ORDER, "tri").ended(null, 1_000);

        assertThat(meters.servedMethods()).singleElement().satisfies(method -> {
            assertThat(method.method()).isEqualTo("order");
            assertThat(method.lastMinute(meters.servedWindow().second()).calls())
                    .isEqualTo(2);
        });
    }

    @Test
    void callsOfTheClientAreNotCounted() {
        meters.client(SHOP, ORDER, "dubbo").ended(null, 1_000);

        assertThat(meters.servedMethods()).isEmpty();
    }
}
