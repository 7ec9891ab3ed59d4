package tern.rpc.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.serialization.JdkSerializer;
import tern.rpc.server.RpcServer;

@Timeout(60)
class InMemoryTransportTest {

    private final AtomicBoolean closing = new AtomicBoolean();
    private final InMemoryTransport transport = new InMemoryTransport(new JdkSerializer(), this::now);
    private final RpcServer server = RpcServer.builder(transport).build();

    @AfterEach
    void close() {
        server.close();
    }

    /**
     * The transport's clock. If the test has requested it, reading the clock closes the transport. The transport reads
     * the clock after it has found the server and before it registers the call.
     */
    private long now() {
        if (closing.get()) {
            transport.close();
        }
        return 0;
    }

    private static PendingCall call() {
        MethodDescriptor descriptor =
                ServiceDescriptor.of(StreamService.class).overloads("unary").get(0);
        Invocation call = new Invocation(
                new ServiceKey(StreamService.class.getName(), "", ""),
                descriptor,
                new Object[] {"text"},
                new Metadata(),
                Deadline.none(),
                Runnable::run);
        return new PendingCall(call, false, 0, null);
    }

    private ClientConnection connection() {
        return transport.connect(new Endpoint("local", 0), 1, null);
    }

    private static void assertNotSent(@Nullable Throwable failure) {
        assertThat(failure).isInstanceOfSatisfying(RpcException.class, refused -> {
            assertThat(refused.code()).isEqualTo(StatusCode.UNAVAILABLE);
            assertThat(refused.wasExecuted()).isEqualTo(Executed.NO);
            assertThat(refused).hasMessageContaining("was closed");
        });
    }

    @Test
    void callFailsWhenTheTransportIsClosedWhileItIsSent() {
        server.start();
        PendingCall pending = call();

        closing.set(true);
        connection().send(pending);

        assertThat(pending.hasFailed()).isTrue();
        assertThatThrownBy(pending::await).satisfies(InMemoryTransportTest::assertNotSent);
        assertThat(transport.inFlight()).isZero();
    }

    @Test
    void transportHasOneServerAtATime() {
        RpcServer another = RpcServer.builder(transport).build();
        server.start();

        assertThatThrownBy(another::start)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("is started");
    }

    @Test
    void transportServesAgainAfterADrainAndAClose() {
        server.start();
        transport.drain();
        transport.close();
        ClientConnection connection = connection();
        assertThat(connection.isAvailable()).isFalse();

        try (RpcServer another = RpcServer.builder(transport).build()) {
            another.start();

            assertThat(connection.isAvailable()).isTrue();
        }
    }
}
