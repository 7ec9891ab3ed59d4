package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import com.example.wire.GreetService;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.Deadline;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServiceDescriptor;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.netty.dubbo.DubboProtocol;
import tern.rpc.netty.peer.RawFrame;
import tern.rpc.netty.peer.RawServer;
import tern.rpc.netty.peer.RawSocket;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.transport.PendingCall;

/** Tests calls on a connection that is still being opened. */
@Timeout(60)
class ConnectingTest {

    private final DubboProtocol protocol =
            new DubboProtocol(HessianSerializer.builder().build(), 0);
    private final ClientTransportSettings settings = ClientTransportSettings.named("test");

    private Connection connection(RawServer server) {
        return connection(server.endpoint());
    }

    private Connection connection(Endpoint endpoint) {
        protocol.prepare(ServiceDescriptor.of(GreetService.class));
        return new Connection(endpoint, settings, protocol, null, (connection, state) -> {});
    }

    @Test
    void callsBeforeTheConnectionOpensAreSentInOrder() {
        try (EventLoops loops = EventLoops.start(1);
                RawServer server = RawServer.start()) {
            Connection connection = connection(server);
            List<PendingCall> calls = List.of(Pending.call(), Pending.call(), Pending.call());
            calls.forEach(connection::send);
            assertThat(connection.queue().queuedBytes()).isPositive();
            assertThat(calls).noneMatch(PendingCall::wasSent);

            connection.connect(loops);

            RawSocket socket = server.next();
            for (PendingCall call : calls) {
                RawFrame request = socket.read();
                assertThat(request.id()).isEqualTo(call.id());
                assertThat(request.flags()).isEqualTo(RawFrame.TWO_WAY);
            }
            connection.close("the test is over");
        }
    }

    @Test
    void endpointIsConnectedToAgainAfterAnAttemptRanOutOfMemory() {
        AtomicInteger connections = new AtomicInteger();
        ClientProtocol withoutMemory = (ClientProtocol) Proxy.newProxyInstance(
                ClientProtocol.class.getClassLoader(), new Class<?>[] {ClientProtocol.class}, (self, method, args) -> {
                    // a connection reads the idlePatience setting while it is being created
                    if (method.getName().equals("idlePatience") && connections.incrementAndGet() == 2) {
                        throw new OutOfMemoryError("injected");
                    }
                    return method.invoke(protocol, args);
                });
        try (EventLoops loops = EventLoops.start(1);
                RawServer server = RawServer.start()) {
            ConnectionPool pool = new ConnectionPool(
                    server.endpoint(),
                    1,
                    settings,
                    withoutMemory,
                    null,
                    loops,
                    closed -> {},
                    System::nanoTime,
                    new ReconnectPace(System::nanoTime, (task, millis) -> {}));
            pool.open();

            server.next().close();
            server.next();

            assertThat(connections).hasValueGreaterThanOrEqualTo(3);
            pool.close();
        }
    }

    @Test
    void callThatExpiresBeforeTheConnectionOpensIsNotExecuted() throws Exception {
        try (EventLoops loops = EventLoops.start(1);
                RawServer server = RawServer.start()) {
            Connection connection = connection(server);
            CompletableFuture<Throwable> failed = new CompletableFuture<>();
            PendingCall late =
                    Pending.call(Deadline.after(Duration.ofMillis(1)), (response, failure) -> failed.complete(failure));
            connection.send(late);
            late.fail(RpcException.refusal(StatusCode.DEADLINE_EXCEEDED, "late", Executed.NO));
            PendingCall timely = Pending.call();
            connection.send(timely);

            connection.connect(loops);

            RawSocket socket = server.next();
            assertThat(socket.read().id()).isEqualTo(timely.id());
            assertThat(((RpcException) failed.get(20, TimeUnit.SECONDS)).wasExecuted())
                    .isEqualTo(Executed.NO);
            connection.close("the test is over");
        }
    }

    @Test
    void callsFailAsNotExecutedWhenItCannotBeOpened() throws Exception {
        try (EventLoops loops = EventLoops.start(1);
                Socket deaf = new Socket()) {
            // the socket is bound but not listening, so the port is reserved but refuses connections
            deaf.bind(new InetSocketAddress("127.0.0.1", 0));
            Connection connection = connection(new Endpoint("127.0.0.1", deaf.getLocalPort()));
            CompletableFuture<Throwable> failed = new CompletableFuture<>();
            connection.send(Pending.call(Deadline.none(), (response, failure) -> failed.complete(failure)));

            connection.connect(loops);

            RpcException failure = (RpcException) failed.get(20, TimeUnit.SECONDS);
            assertThat(failure.code()).isEqualTo(StatusCode.UNAVAILABLE);
            assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
            assertThat(connection.inFlight()).isZero();
        }
    }

    @Test
    void callFailsWhenTheEventLoopsHaveEnded() throws Exception {
        try (RawServer server = RawServer.start()) {
            EventLoops ended = EventLoops.start(1);
            ended.close();
            assertThat(ended.group().terminationFuture().await(20, TimeUnit.SECONDS))
                    .isTrue();
            Connection connection = connection(server);
            CompletableFuture<Throwable> failed = new CompletableFuture<>();
            connection.send(Pending.call(Deadline.none(), (response, failure) -> failed.complete(failure)));

            connection.connect(ended);

            assertThat(failed.get(20, TimeUnit.SECONDS)).isInstanceOf(RpcException.class);
            assertThat(connection.inFlight()).isZero();
        }
    }

    @Test
    void callOnAClosedConnectionFailsAsNotExecuted() throws Exception {
        try (EventLoops loops = EventLoops.start(1);
                RawServer server = RawServer.start()) {
            Connection connection = connection(server);
            connection.connect(loops);
            RawSocket socket = server.next();
            connection.close("the test is over");
            assertThat(socket.isClosedByPeer()).isTrue();
            CompletableFuture<Throwable> failed = new CompletableFuture<>();

            connection.send(Pending.call(Deadline.none(), (response, failure) -> failed.complete(failure)));

            RpcException failure = (RpcException) failed.get(20, TimeUnit.SECONDS);
            assertThat(failure.code()).isEqualTo(StatusCode.UNAVAILABLE);
            assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
            assertThat(failure).hasMessageContaining("the test is over");
        }
    }

    /** Tests data that reaches the handlers before the connection is notified that its channel is open. */
    @Test
    void readOnlyEventBeforeTheConnectionIsOpenIsKept() {
        protocol.prepare(ServiceDescriptor.of(GreetService.class));
        List<Connection.State> told = new ArrayList<>();
        Connection connection = new Connection(
                new Endpoint("127.0.0.1", 1), settings, protocol, null, (changed, state) -> told.add(state));
        EmbeddedChannel channel = new EmbeddedChannel(connection.opening().handlers());
        channel.writeInbound(Unpooled.wrappedBuffer(RawFrame.readOnly(7).bytes()));

        connection.opened(channel);

        assertThat(told).containsExactly(Connection.State.READY, Connection.State.DRAINING, Connection.State.CLOSED);
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void reasonThatQuotesThePeerStaysOnItsLine() {
        Connection connection = connection(new Endpoint("127.0.0.1", 1));

        connection.close("HTTP/2: header 'a\n2026-01-01 ERROR forged'");

        assertThat(connection.closeReason()).isEqualTo("HTTP/2: header 'a\\n2026-01-01 ERROR forged'");
    }
}
