package tern.rpc.cluster;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Attributes;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.EndpointSnapshot;
import tern.rpc.transport.ClientConnection;

/**
 * A snapshot of the providers of a reference.
 *
 * @param source a description of the source of the list
 * @param state whether the list is current
 * @param since the time since which the state holds
 * @param why the reason for the state; may be empty
 * @param listed the number of providers that the source lists
 * @param held the number of providers that the source no longer lists but that still answer
 * @param heldFor the time for which providers have been held; zero if none are
 * @param providers the providers that the client connects to
 */
public record ClusterReport(
        String source,
        EndpointSnapshot.State state,
        Instant since,
        String why,
        int listed,
        int held,
        Duration heldFor,
        List<Provider> providers) {

    /** The state of a connection. */
    public enum Link {
        /** The connection will be opened soon, at a limited rate. */
        WAITING,
        CONNECTING,
        CONNECTED,
        UNREACHABLE
    }

    /**
     * One provider.
     *
     * @param lastFailure the reason why it is not connected; empty if it is connected
     * @param held whether the source no longer lists it
     * @param known whether it has answered since it was connected
     * @param stalled whether it is silent although calls wait for it
     * @param cost its response time as a multiple of the usual one
     * @param inFlight calls and streams that have not ended
     * @param calls all calls and streams since the start of the client
     * @param ejectedFor the remaining time of its ejection; zero if it is not ejected
     * @param ejectedWhy the reason for the last ejection; empty if there was none
     * @param ejections the number of ejections since the start of the client
     */
    public record Provider(
            Endpoint endpoint,
            Attributes attributes,
            Link link,
            String lastFailure,
            boolean held,
            boolean known,
            boolean stalled,
            double cost,
            int inFlight,
            long calls,
            Duration ejectedFor,
            String ejectedWhy,
            long ejections) {

        static Provider of(Target target, long now) {
            Node node = target.node();
            ClientConnection connection = node.opened();
            return new Provider(
                    node.endpoint(),
                    target.attributes(),
                    link(connection),
                    connection == null || connection.isAvailable() ? "" : connection.lastFailure(),
                    target.isHeld(),
                    node.isKnown(),
                    node.isStalled(now),
                    node.cost(now),
                    node.inFlight(),
                    node.calls(),
                    Duration.ofNanos(node.ejection().forNanos(now)),
                    node.ejection().why(),
                    node.ejection().count());
        }

        private static Link link(@Nullable ClientConnection connection) {
            if (connection == null) {
                return Link.WAITING;
            }
            if (connection.isAvailable()) {
                return Link.CONNECTED;
            }
            return connection.isConnecting() ? Link.CONNECTING : Link.UNREACHABLE;
        }
    }

    static ClusterReport of(String source, LastGood list, List<Target> targets, long now) {
        EndpointSnapshot snapshot = list.snapshot();
        return new ClusterReport(
                source,
                snapshot.state(),
                snapshot.since(),
                snapshot.why(),
                list.listed().size(),
                list.held().size(),
                list.held().isEmpty() ? Duration.ZERO : Duration.ofNanos(now - list.heldSinceNanos()),
                targets.stream().map(target -> Provider.of(target, now)).toList());
    }
}
