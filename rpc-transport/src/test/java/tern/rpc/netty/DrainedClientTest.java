package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.netty.dubbo.DubboProtocol;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.transport.PendingCall;

/** Tests when a client closes a connection after its server has stopped accepting calls on it. */
class DrainedClientTest {

    interface Log {
        void append(String line);
    }

    private static final ServiceDescriptor SERVICE = ServiceDescriptor.of(Log.class);
    private static final Duration HOUR = Duration.ofHours(1);

    private final SlowChannel channel = new SlowChannel();
    private final AtomicInteger answered = new AtomicInteger();

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    @Test
    void oneWayCallIsSentBeforeTheConnectionIsClosed() {
        HessianSerializer serializer = HessianSerializer.builder().build();
        serializer.prepare(SERVICE);
        Connection connection = new Connection(
                new Endpoint("127.0.0.1", 1),
                EmbeddedConnection.settings(HOUR, HOUR, HOUR),
                new DubboProtocol(serializer, 0),
                null,
                (changed, state) -> {});
        channel.pipeline().addLast(connection.opening().handlers());
        connection.opened(channel);
        Invocation call = new Invocation(
                new ServiceKey(Log.class.getName(), "", ""),
                SERVICE.overloads("append").get(0),
                new Object[] {"x".repeat(10_000)},
                new Metadata(),
                Deadline.none(),
                Runnable::run);
        connection.send(new PendingCall(
                call, true, System.nanoTime(), (response, failure) -> answered.addAndGet(failure == null ? 1 : 1_000)));
        channel.runPendingTasks();
        assertThat(answered).hasValue(1);

        connection.drain();
        assertThat(channel.isOpen()).isTrue();
        channel.peerReads(9_000);
        assertThat(channel.isOpen()).isTrue();

        channel.peerReads(1 << 20);
        assertThat(channel.taken()).isGreaterThan(10_000);
        assertThat(channel.isOpen()).isFalse();
    }
}
