package tern.rpc.cluster;

import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Function;
import tern.rpc.NanoClock;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.EndpointSource;
import tern.rpc.transport.ClientConnection;

/** The objects that all clusters of a client share. Thread-safe. */
public final class ClusterParts {

    /** The maximum number of connections opened in a burst. */
    private static final int CONNECTIONS_AT_ONCE = 20;

    /** The maximum number of connections opened per second after a burst. */
    private static final int CONNECTIONS_PER_SECOND = 50;

    private final NanoClock clock;
    private final ScheduledExecutorService timer;
    private final SharedSources sources;
    private final TokenBucket pace;
    private final NodeCounts counts = new NodeCounts();
    private final Rankings rankings;

    /**
     * @param timer runs short tasks
     * @param client a number that identifies the client
     */
    public ClusterParts(NanoClock clock, ScheduledExecutorService timer, long client) {
        this.clock = clock;
        this.timer = timer;
        this.rankings = new Rankings(client);
        this.sources = new SharedSources(clock, timer);
        this.pace = new TokenBucket(CONNECTIONS_AT_ONCE, CONNECTIONS_PER_SECOND, clock.nanoTime());
    }

    /** Returns the event counts of all clusters of the client. */
    public NodeCounts counts() {
        return counts;
    }

    /**
     * Creates the object that keeps the state and the connection of each provider of one transport.
     *
     * @param connect opens a connection without blocking
     */
    public Nodes nodes(Function<Endpoint, ClientConnection> connect) {
        return new Nodes(connect, pace, counts, clock, timer);
    }

    /**
     * Creates the cluster of a reference.
     *
     * @param service the name of the service in logs and error messages
     * @param methods the names of the service's methods, because rules can choose different providers for each method
     * @param protocol the reference's protocol; endpoints with another protocol are ignored
     */
    public Cluster cluster(
            String service,
            List<String> methods,
            String protocol,
            EndpointSource source,
            Nodes nodes,
            ClusterSettings settings) {
        return new Cluster(
                service, List.copyOf(methods), protocol, source, sources, nodes, settings, clock, timer, rankings);
    }
}
