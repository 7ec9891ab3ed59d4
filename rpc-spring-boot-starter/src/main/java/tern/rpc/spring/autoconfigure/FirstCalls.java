package tern.rpc.spring.autoconfigure;

import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import java.io.Serializable;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.Slo;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyClientTransport;
import tern.rpc.netty.NettyServerTransport;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.dubbo.DubboProtocol;
import tern.rpc.serialization.Serializer;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.rpc.transport.ClientTransport;
import tern.rpc.transport.InMemoryTransport;
import tern.rpc.transport.ServerTransport;

/**
 * Makes a few calls to a service inside Tern during startup. The first calls in a process load and link several hundred
 * classes. Without these warm-up calls, the first real callers would have to wait for the classes. No other process is
 * involved.
 */
final class FirstCalls {

    private static final Logger LOG = LoggerFactory.getLogger(FirstCalls.class);
    private static final int CALLS = 3;

    /** The maximum number of connections to the temporary port. The warm-up calls need only one connection. */
    private static final int CONNECTIONS = 1;

    private static final int MESSAGE_BYTES = 64 << 10;

    /** The maximum delay of the startup by the warm-up calls. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    /** The latency target for the warm-up calls. The target is so high that these slow calls are not reported. */
    private static final Slo NO_TARGET = new Slo(1, PATIENCE.multipliedBy(2));

    /** The service that the warm-up calls use. */
    public interface Probe {

        Message echo(Message message);
    }

    /** A typical argument of a call, with strings and numbers. */
    public record Message(String text, int number, List<String> more) implements Serializable {}

    private FirstCalls() {}

    /**
     * Creates an instance that makes no calls, for applications without tern-rpc-hessian. The warm-up calls send Java
     * values, which need this module.
     */
    static FirstCalls none() {
        return new FirstCalls();
    }

    /** Makes the calls in memory, without opening a port, and returns when they have ended. Never throws. */
    static FirstCalls inMemory(Serializer serializer) {
        return made("in memory", () -> {
            InMemoryTransport memory = new InMemoryTransport(serializer);
            make(memory, memory, InMemoryTransport.PROTOCOL);
        });
    }

    /**
     * Makes the calls over a temporary port on the loopback interface, and returns when they have ended. The calls also
     * load the classes of the wire protocols. Used in processes that also open a port for their own server. Never
     * throws.
     */
    static FirstCalls overLoopback(Serializer serializer, EventLoops loops) {
        DubboProtocol wire = new DubboProtocol(serializer, 0);
        ServerTransportSettings port = ServerTransportSettings.onPort(0)
                .withAddress(InetAddress.getLoopbackAddress().getHostAddress())
                .withMaxConnections(CONNECTIONS, CONNECTIONS)
                .withMaxInFlight(CALLS)
                .withMaxMessageBytes(MESSAGE_BYTES);
        return made(
                "over the loopback interface",
                () -> make(
                        new NettyServerTransport(port, loops, List.of(wire)),
                        new NettyClientTransport(ClientTransportSettings.named("first-calls"), loops, wire),
                        DubboProtocol.NAME));
    }

    private static FirstCalls made(String where, Runnable calls) {
        try {
            calls.run();
        } catch (RuntimeException | LinkageError e) {
            if (Thread.currentThread().isInterrupted()) { // The process received SIGTERM during startup.
                LOG.debug("The calls {} were interrupted", where, e);
            } else {
                LOG.warn("No warm-up calls could be made {}; the first real calls will take longer", where, e);
            }
        }
        return new FirstCalls();
    }

    private static void make(ServerTransport served, ClientTransport called, String protocol) {
        RpcMeters meters = new RpcMeters(new CompositeMeterRegistry(), NO_TARGET);
        try (called;
                served;
                RpcServer server = RpcServer.builder(served)
                        .meters(meters)
                        .export(ServiceExport.of(Probe.class, message -> message))
                        .build();
                RpcClient client = RpcClient.builder()
                        .transport(called)
                        .meters(meters)
                        .checkTimeout(PATIENCE)
                        .timeout(PATIENCE)
                        .build()) {
            server.start();
            Endpoint here = new Endpoint(InetAddress.getLoopbackAddress().getHostAddress(), Math.max(1, server.port()));
            Probe probe = client.refer(ServiceReference.to(Probe.class, new StaticEndpoints(List.of(here)))
                    .protocol(protocol)
                    .check(true)
                    .build());
            for (int i = 0; i < CALLS; i++) {
                probe.echo(new Message("first", i, List.of("a", "b")));
            }
        }
    }
}
