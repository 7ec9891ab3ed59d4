package tern.rpc.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tern.rpc.CallLedger;
import tern.rpc.MethodDescriptor;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.StatusCode;

/** Tests which answers are counted as server failures. */
class CallersMistakesTest {

    interface Orders {
        String order(String what);
    }

    private static final ServiceDescriptor SERVICE = ServiceDescriptor.of(Orders.class);
    private static final ServiceKey KEY = new ServiceKey(SERVICE.name(), "", "");
    private static final MethodDescriptor METHOD = SERVICE.overloads("order").get(0);
    private static final long SECOND_NANOS = 1_000_000_000;

    private final AtomicLong time = new AtomicLong(SECOND_NANOS);
    private final RpcMeters meters = new RpcMeters(new SimpleMeterRegistry(), Slo.DEFAULT, time::get);
    private final List<Throwable> told = new ArrayList<>();

    @BeforeEach
    void observe() {
        meters.observe((method, ledger, took, now, failure) -> {
            if (failure != null) {
                told.add(failure);
            }
        });
    }

    /** Records a call whose method threw an exception. The exception was sent with the given status code. */
    private void served(StatusCode code) {
        RpcException sent = RpcException.refusal(code, "no order", Executed.NO);
        meters.server(KEY, METHOD, "dubbo").ended(sent, 1_000);
        meters.phases(KEY, METHOD)
                .ended(
                        new CallLedger(time::get),
                        time.get(),
                        1_000,
                        new IllegalStateException("thrown"),
                        sent,
                        () -> null);
        time.addAndGet(SECOND_NANOS);
    }

    @ParameterizedTest
    @EnumSource(
            value = StatusCode.class,
            names = {"INVALID_ARGUMENT", "NOT_FOUND", "PERMISSION_DENIED", "UNAUTHENTICATED", "OUT_OF_RANGE"})
    void answerThatBlamesTheCallerIsNoFailureOfTheServer(StatusCode code) {
        served(code);

        assertThat(meters.served().calls()).isOne();
        assertThat(meters.served().shareFailed()).isZero();
        assertThat(told).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(
            value = StatusCode.class,
            names = {"INTERNAL", "UNKNOWN", "UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED", "RESOURCE_EXHAUSTED"})
    void otherCodesAreFailuresOfTheServer(StatusCode code) {
        served(code);

        assertThat(meters.served().shareFailed()).isEqualTo(1);
        assertThat(told).singleElement().isInstanceOf(IllegalStateException.class);
    }

    @Test
    void invalidRequestsOfThisClientAreFailuresOfItsCalls() {
        meters.client(KEY, METHOD, "dubbo")
                .ended(RpcException.refusal(StatusCode.INVALID_ARGUMENT, "no order", Executed.NO), 1_000);
        time.addAndGet(SECOND_NANOS);

        assertThat(meters.called().shareFailed()).isEqualTo(1);
    }
}
