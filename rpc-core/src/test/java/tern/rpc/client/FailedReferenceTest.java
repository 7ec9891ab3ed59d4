package tern.rpc.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.EndpointSnapshot;
import tern.rpc.endpoint.EndpointSource;
import tern.rpc.endpoint.Instance;

/** Tests that the failed creation of a reference leaves no resources behind in the client. */
@Timeout(120)
class FailedReferenceTest {

    private static final Endpoint ONE = new Endpoint("one", 1);

    public interface Service {
        String find();

        void store();
    }

    /** A source that counts how many times it is started and closed. */
    private static final class Counted implements EndpointSource {
        private int starts;
        private int closes;
        private boolean fails;

        @Override
        public void start(Consumer<EndpointSnapshot> listener) {
            starts++;
            if (fails) {
                throw new IllegalArgumentException("injected");
            }
            listener.accept(EndpointSnapshot.heard(List.of(Instance.of(ONE)), Instant.EPOCH));
        }

        @Override
        public Object key() {
            return "counted";
        }

        @Override
        public void close() {
            closes++;
        }
    }

    private final FakeNetwork network = new FakeNetwork();
    private final Counted source = new Counted();
    private final RpcClient client = client(Duration.ZERO);

    private RpcClient client(Duration checkTimeout) {
        return RpcClient.builder().transport(network).checkTimeout(checkTimeout).build();
    }

    @AfterEach
    void close() {
        client.close();
    }

    private ServiceReference.Builder<Service> reference() {
        return ServiceReference.to(Service.class, source).protocol(FakeNetwork.PROTOCOL);
    }

    @Test
    void failedChecksLeaveNothingBehind() {
        network.at(ONE).available = false;

        for (int i = 1; i <= 5; i++) {
            assertThatThrownBy(() -> client.refer(reference().check(true).build()))
                    .isInstanceOfSatisfying(
                            RpcException.class,
                            failure -> assertThat(failure.code()).isEqualTo(StatusCode.UNAVAILABLE));

            assertThat(client.references()).isEmpty();
            assertThat(client.connections()).isEmpty();
            assertThat(source.starts).isEqualTo(i);
            assertThat(source.closes).isEqualTo(i);
        }

        network.at(ONE).available = true;
        client.refer(reference().check(true).build());
        assertThat(client.references()).hasSize(1);
    }

    @Test
    void invalidSettingsLeaveNothingBehind() {
        assertThatThrownBy(() -> client.refer(reference()
                        .method("store", MethodSettings.NONE.withHedging(true))
                        .build()))
                .isInstanceOf(IllegalArgumentException.class);

        assertThat(client.references()).isEmpty();
        assertThat(source.starts).isZero();
    }

    @Test
    void sourceThatCannotBeStartedLeavesNothingBehind() {
        source.fails = true;
        assertThatThrownBy(() -> client.refer(reference().build())).hasMessage("injected");
        assertThat(client.references()).isEmpty();

        source.fails = false;
        client.refer(reference().build());
        assertThat(source.starts).isEqualTo(2);
        assertThat(client.references()).hasSize(1);
    }

    @Test
    void closeOfTheClientEndsACheck() throws Exception {
        network.at(ONE).available = false;
        RpcClient patient = client(Duration.ofDays(1));
        CompletableFuture<Service> checked = CompletableFuture.supplyAsync(
                () -> patient.refer(reference().check(true).build()));
        while (patient.references().isEmpty()) {
            Thread.onSpinWait();
        }

        patient.close();

        assertThatThrownBy(() -> checked.get(60, TimeUnit.SECONDS)).hasCauseInstanceOf(RpcException.class);
    }

    @Test
    void interruptEndsACheck() {
        network.at(ONE).available = false;
        RpcClient patient = client(Duration.ofDays(1));
        Thread.currentThread().interrupt();

        assertThatThrownBy(() -> patient.refer(reference().check(true).build()))
                .isInstanceOfSatisfying(
                        RpcException.class,
                        failure -> assertThat(failure.code()).isEqualTo(StatusCode.CANCELLED));
        assertThat(Thread.interrupted()).isTrue();
        patient.close();
    }
}
