package tern.rpc.spring.autoconfigure;

import java.io.Serializable;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.serialization.Serializer;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.rpc.transport.InMemoryTransport;

/**
 * A process loads some hundred classes and links their code when it makes or serves its first calls. They are made while
 * it starts, in memory, of a service of our own, so that no caller waits for that; nobody else has to be there for it.
 */
final class FirstCalls {

    private static final Logger LOG = LoggerFactory.getLogger(FirstCalls.class);
    private static final int CALLS = 3;

    /** What is called. */
    public interface Probe {

        /** Gives the same back. */
        Message echo(Message message);
    }

    /** What most calls carry: a value with texts and numbers. */
    public record Message(String text, int number, List<String> more) implements Serializable {}

    /** Makes them before it returns; never fails. */
    FirstCalls(Serializer serializer) {
        try {
            make(serializer);
        } catch (RuntimeException | LinkageError e) {
            LOG.warn("No calls could be tried in memory; the first real ones will take longer", e);
        }
    }

    private static void make(Serializer serializer) {
        try (InMemoryTransport memory = new InMemoryTransport(serializer);
                RpcServer server = RpcServer.builder(memory)
                        .export(ServiceExport.of(Probe.class, message -> message))
                        .build();
                RpcClient client = RpcClient.builder().transport(memory).build()) {
            server.start();
            Probe probe = client.refer(
                    ServiceReference.to(Probe.class, new StaticEndpoints(List.of(new Endpoint("localhost", 1))))
                            .protocol(InMemoryTransport.PROTOCOL)
                            .build());
            for (int i = 0; i < CALLS; i++) {
                probe.echo(new Message("first", i, List.of("a", "b")));
            }
        }
    }
}
