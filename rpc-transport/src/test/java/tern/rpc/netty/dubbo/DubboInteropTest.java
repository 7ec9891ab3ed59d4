package tern.rpc.netty.dubbo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.example.wire.GreetService;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.client.RpcClient;
import tern.rpc.netty.ClientProtocol;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.ServerProtocol;
import tern.rpc.netty.peer.Await;
import tern.rpc.netty.peer.DubboInteropContract;
import tern.rpc.netty.peer.DubboPeer;
import tern.rpc.netty.peer.RawFrame;
import tern.rpc.netty.peer.Relay;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.transport.GenericException;
import tern.rpc.transport.RemoteFailures;
import tern.rpc.transport.RemoteFailures.Missing;

/** Tests calls between Tern and a real Apache Dubbo instance over the dubbo protocol. */
class DubboInteropTest extends DubboInteropContract {

    private final DubboProtocol protocol = new DubboProtocol(
            HessianSerializer.builder()
                    .alias(GenericException.class, GenericException.WIRE_NAME)
                    .build(),
            0);

    DubboInteropTest() {
        super("dubbo");
    }

    @Override
    protected List<ServerProtocol> serverProtocols() {
        return List.of(protocol);
    }

    @Override
    protected ClientProtocol clientProtocol() {
        return protocol;
    }

    @Test
    void unknownVersionFailsWithoutHavingRun() {
        GreetService ours = refer(client, to -> to.version("9.9.9"), dubbo.endpoint());
        GreetService theirs =
                dubbo.refer(GreetService.class, dubbo.url(port), reference -> reference.setVersion("9.9.9"));

        RpcException failure = catchThrowableOfType(RpcException.class, () -> ours.echo("x"));
        assertThat(failure.code()).isEqualTo(StatusCode.INVALID_ARGUMENT);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
        assertThat(catchThrowable(() -> theirs.echo("x")))
                .isInstanceOf(org.apache.dubbo.rpc.RpcException.class)
                .hasMessageContaining(
                        "UNIMPLEMENTED: service com.example.wire.GreetService:9.9.9 is not exported here");
    }

    @Test
    void unknownGroupAtDubboFailsWithoutHavingRun() {
        GreetService ours = refer(client, to -> to.group("nobody"), dubbo.endpoint());

        RpcException failure = catchThrowableOfType(RpcException.class, () -> ours.echo("x"));

        assertThat(failure.code()).isEqualTo(StatusCode.UNIMPLEMENTED);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
        assertThat(RemoteFailures.missing(failure)).isEqualTo(Missing.SERVICE);
    }

    /** A service that no provider exports. */
    private interface Unknown {
        String nope(String text);
    }

    @Test
    void unknownServiceFails() {
        Unknown ours = refer(Unknown.class, client, to -> {}, dubbo.endpoint());
        Unknown theirs = dubbo.refer(Unknown.class, dubbo.url(port), reference -> {});

        RpcException failure = catchThrowableOfType(RpcException.class, () -> ours.nope("x"));
        assertThat(failure.code()).isEqualTo(StatusCode.INVALID_ARGUMENT);
        assertThat(RemoteFailures.missing(failure)).isNotEqualTo(Missing.NOTHING);
        assertThat(catchThrowable(() -> theirs.nope("x")))
                .isInstanceOf(org.apache.dubbo.rpc.RpcException.class)
                .hasMessageContaining("is not exported here");
    }

    @Test
    void heartbeatOfDubboIsAnswered() {
        try (Relay relay = new Relay(port)) {
            GreetService service = dubbo.refer(GreetService.class, dubbo.url(relay.port()), reference -> {
                reference.setParameters(new HashMap<>(Map.of("heartbeat", "300", "heartbeat.timeout", "60000")));
            });
            assertThat(service.echo("x")).isEqualTo("x");

            Await.until("two heartbeats were sent and answered", () -> count(relay.fromServer, 0x22) >= 2);

            assertThat(relay.fromClients.stream().filter(frame -> frame.flags() == RawFrame.HEARTBEAT))
                    .hasSizeGreaterThanOrEqualTo(2);
            assertThat(service.echo("y")).isEqualTo("y");
            assertThat(relay.connections()).isEqualTo(1);
        }
    }

    @Test
    void dubboAnswersOurHeartbeat() {
        try (Relay relay = new Relay(dubbo.endpoint().port());
                RpcClient impatient = client(DubboInteropTest::impatient)) {
            GreetService service = refer(impatient, to -> {}, relay.endpoint());
            assertThat(service.echo("x")).isEqualTo("x");

            Await.until("two heartbeats were sent and answered", () -> count(relay.fromServer, 0x22) >= 2);

            assertThat(count(relay.fromClients, RawFrame.HEARTBEAT)).isGreaterThanOrEqualTo(2);
            assertThat(service.echo("y")).isEqualTo("y");
            assertThat(relay.connections()).isEqualTo(1);
        }
    }

    private static long count(List<RawFrame> frames, int flags) {
        return frames.stream().filter(frame -> frame.flags() == flags).count();
    }

    private static ClientTransportSettings impatient(ClientTransportSettings defaults) {
        return defaults.withHeartbeat(Duration.ofMillis(200)).withProbe(Duration.ofMillis(200), Duration.ofSeconds(10));
    }

    @Test
    void shutdownOfDubboMovesOurCallsElsewhere() {
        DubboPeer leaving = new DubboPeer("leaving", "dubbo");
        leaving.provide(GreetService.class, new Named("leaving"), "", "");
        DubboPeer staying = new DubboPeer("staying", "dubbo");
        staying.provide(GreetService.class, new Named("staying"), "", "");
        try (Relay relay = new Relay(leaving.endpoint().port())) {
            GreetService service = refer(client, to -> {}, relay.endpoint(), staying.endpoint());
            Await.until("both are called", () -> service.echo("x").equals("leaving"));
            Await.until("both are called", () -> service.echo("x").equals("staying"));

            leaving.close();

            Await.until("Dubbo said so", () -> count(relay.fromServer, RawFrame.READ_ONLY) > 0);
            Await.until("our client has left every connection", () -> relay.left() == relay.connections());
            assertThat(Stream.generate(() -> service.echo("x")).limit(20)).containsOnly("staying");
        } finally {
            staying.close();
        }
    }
}
