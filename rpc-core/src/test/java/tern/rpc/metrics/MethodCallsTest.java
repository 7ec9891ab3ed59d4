package tern.rpc.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import tern.rpc.RpcException;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.StatusCode;

class MethodCallsTest {

    interface Shop {
        void order();
    }

    private static final ServiceKey SHOP = new ServiceKey(Shop.class.getName(), "", "");

    private final RpcMeters meters = RpcMeters.withoutRegistry();
    private final CallMeters client =
            meters.client(SHOP, ServiceDescriptor.of(Shop.class).methods().get(0), "dubbo", Duration.ofSeconds(1), 2);

    private MethodCalls only() {
        assertThat(meters.calledMethods()).hasSize(1);
        return meters.calledMethods().get(0);
    }

    private void call(int times, long millis) {
        for (int i = 0; i < times; i++) {
            client.ended(null, TimeUnit.MILLISECONDS.toNanos(millis));
        }
    }

    @Test
    void differenceOfTwoSnapshotsCoversTheTimeBetween() {
        call(500, 2);
        MethodCalls.Sums before = only().sums();
        call(98, 10);
        call(2, 400);
        client.retried();
        client.ended(new RpcException(StatusCode.DEADLINE_EXCEEDED, "late"), TimeUnit.SECONDS.toNanos(1));

        MethodCalls.Sums between = only().sums().since(before);

        assertThat(between.calls()).isEqualTo(101);
        assertThat(between.retries()).isEqualTo(1);
        assertThat(between.timeouts()).isEqualTo(1);
        assertThat(between.p99()).isBetween(Duration.ofMillis(400), Duration.ofMillis(450));
        assertThat(between.mean().toMillis()).isEqualTo((980 + 800 + 1_000) / 101);
    }

    @Test
    void limitsOfTheReferenceAreKept() {
        assertThat(only().timeout()).isEqualTo(Duration.ofSeconds(1));
        assertThat(only().attempts()).isEqualTo(2);
        assertThat(only().sums().p99()).isZero();
    }

    @Test
    void protocolsOfOneMethodAreCountedTogether() {
        meters.client(SHOP, ServiceDescriptor.of(Shop.class).methods().get(0), "tri", Duration.ofSeconds(1), 2)
                .ended(null, 1_000);
        call(1, 1);

        assertThat(only().sums().calls()).isEqualTo(2);
    }
}
