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
 * A process loads some hundred classes and links their code when it makes or serves its first calls. They are made while
 * it starts, of a service of our own, so that no caller waits for that; nobody else has to be there for it.
 */
final class FirstCalls {

    private static final Logger LOG = LoggerFactory.getLogger(FirstCalls.class);
    private static final int CALLS = 3;

    /** Of the port that is open meanwhile: one connection of our own. */
    private static final int CONNECTIONS = 1;

    private static final int MESSAGE_BYTES = 64 << 10;

    /** No start waits longer for them. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    /** First calls are slow, which is why they are made here; nobody is warned of them. */
    private static final Slo NO_TARGET = new Slo(1, PATIENCE.multipliedBy(2));

    /** What is called. */
    public interface Probe {

        /** Gives the same back. */
        Message echo(Message message);
    }

    /** What most calls carry: a value with texts and numbers. */
    public record Message(String text, int number, List<String> more) implements Serializable {}

    private FirstCalls() {}

    /** Makes them before it returns, without opening anything; never fails. */
    static FirstCalls inMemory(Serializer serializer) {
        return made("in memory", () -> {
            InMemoryTransport memory = new InMemoryTransport(serializer);
            make(memory, memory, InMemoryTransport.PROTOCOL);
        });
    }

    /**
     * Makes them before it returns, from a port of this machine alone that is closed again then: so the classes of the wire
     * are there, too. For processes that open a port anyway. Never fails.
     */
    static FirstCalls overLoopback(Serializer serializer, EventLoops loops) {
        DubboProtocol wire = new DubboProtocol(serializer, 0);
        ServerTransportSettings port = new ServerTransportSettings(
                InetAddress.getLoopbackAddress().getHostAddress(),
                0,
                CONNECTIONS,
                CONNECTIONS,
                CALLS,
                MESSAGE_BYTES,
                PATIENCE,
                PATIENCE);
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
            LOG.warn("No calls could be tried {}; the first real ones will take longer", where, e);
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
