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
 * @param heldWhy the change of the list that was not applied; empty if no provider is held
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
        String heldWhy,
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
     * @param heard whether its server has sent something on the connection; true if this is not known
     * @param lastFailure the reason why it is not connected; empty if it is
     * @param nextAttempt the time until the next attempt to connect that needs no call; null if none is planned
     * @param held whether the source no longer lists it
     * @param known whether it has answered since it was connected
     * @param stalledFor the time since which it is silent although calls wait for it; zero if it is not
     * @param cost its response time as a multiple of the usual one
     * @param score the number that load balancing compares; a lower one is better
     * @param inFlight calls and streams that have not ended
     * @param calls calls and streams since the start of the client, of all references that use the connection
     * @param shareOfLastMinute its share of the calls of this reference within the last minute, from 0 to 1
     * @param ejectedFor the remaining time of its ejection; zero if it is not ejected
     * @param ejectedWhy the reason of the last ejection; empty if there was none
     * @param ejections the number of ejections since the start of the client
     */
    public record Provider(
            Endpoint endpoint,
            Attributes attributes,
            Link link,
            boolean heard,
            String lastFailure,
            @Nullable Duration nextAttempt,
            boolean held,
            boolean known,
            Duration stalledFor,
            double cost,
            double score,
            int inFlight,
            long calls,
            double shareOfLastMinute,
            Duration ejectedFor,
            String ejectedWhy,
            long ejections) {

        /** @param allCalls the calls of the last minute to all providers */
        static Provider of(Target target, long allCalls, long now) {
            Node node = target.node();
            ClientConnection connection = node.opened();
            return new Provider(
                    node.endpoint(),
                    target.attributes(),
                    link(connection),
                    connection != null && connection.isAvailable() && connection.wasHeard(),
                    connection == null || connection.isAvailable() ? "" : connection.lastFailure(),
                    nextAttempt(connection),
                    target.isHeld(),
                    node.isKnown(),
                    Duration.ofNanos(node.stalledForNanos(now)),
                    node.cost(now),
                    target.score(now),
                    node.inFlight(),
                    node.calls(),
                    allCalls == 0 ? 0 : (double) target.callsOfLastMinute(now) / allCalls,
                    Duration.ofNanos(node.ejection().forNanos(now)),
                    node.ejection().why(),
                    node.ejection().count());
        }

        private static @Nullable Duration nextAttempt(@Nullable ClientConnection connection) {
            if (connection == null || connection.isAvailable() || connection.isConnecting()) {
                return null;
            }
            long nanos = connection.untilNextAttemptNanos();
            return nanos < 0 ? null : Duration.ofNanos(nanos);
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
        long allCalls = targets.stream()
                .mapToLong(target -> target.callsOfLastMinute(now))
                .sum();
        return new ClusterReport(
                source,
                snapshot.state(),
                snapshot.since(),
                snapshot.why(),
                list.listed().size(),
                list.held().size(),
                list.held().isEmpty() ? Duration.ZERO : Duration.ofNanos(now - list.heldSinceNanos()),
                list.whyHeld(),
                targets.stream()
                        .map(target -> Provider.of(target, allCalls, now))
                        .toList());
    }
}
