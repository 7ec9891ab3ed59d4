package tern.rpc.diagnosis.calls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import tern.rpc.MethodDescriptor;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.metrics.CallMeters;
import tern.rpc.metrics.RpcMeters;

/** Tests the current times of remote calls. */
class RemoteTimesTest {

    interface PriceService {
        String price(String name);
    }

    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private final RpcMeters meters = RpcMeters.withoutRegistry();
    private final CallMeters price = priceMeters();
    private final RemoteTimes times = new RemoteTimes();
    private long now;

    private CallMeters priceMeters() {
        ServiceDescriptor service = ServiceDescriptor.of(PriceService.class);
        MethodDescriptor method = service.methods().iterator().next();
        return meters.client(new ServiceKey(PriceService.class.getName(), "", ""), method, "tri");
    }

    private void second(int calls, double millis) {
        for (int call = 0; call < calls; call++) {
            price.ended(null, (long) (millis * 1e6));
        }
        now += SECOND;
        times.second(meters.calledMethods(), now);
    }

    @Test
    void methodWithoutCallsHasNoTime() {
        second(0, 0);

        assertThat(times.timed(now)).isEmpty();
    }

    @Test
    void timeFollowsTheLastSeconds() {
        second(4, 10);
        second(4, 110);

        assertThat(times.timed(now)).singleElement().satisfies(timed -> {
            assertThat(timed.name()).isEqualTo("PriceService.price");
            assertThat(timed.threadName()).isEmpty();
            assertThat(timed.nanos()).isCloseTo(40e6, within(1e3));
        });
    }

    @Test
    void methodThatIsNoLongerCalledIsForgotten() {
        second(1, 10);
        for (int i = 0; i < 11; i++) {
            second(0, 0);
        }

        assertThat(times.timed(now)).isEmpty();
    }
}
