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
 * @param source the name of the source that reports the provider list
 * @param state whether the list is current
 * @param since the time when the list entered this state
 * @param why the reason for the state; may be empty
 * @param listed the number of providers that the source lists
 * @param passedOver the number of listed providers that the client has replaced with other listed providers, because
 *     they could not be reached
 * @param held the number of unlisted providers that stay in use because they still answer
 * @param heldFor the time for which unlisted providers have been kept in use, or zero if there are no such providers
 * @param heldWhy the list change that was not applied, or empty if there are no such providers
 * @param providers the providers that the client connects to
 */
public record ClusterReport(
        String source,
        EndpointSnapshot.State state,
        Instant since,
        String why,
        int listed,
        int passedOver,
        int held,
        Duration heldFor,
        String heldWhy,
        List<Provider> providers) {

    /** The state of the connection to a provider. */
    public enum Link {
        /** The connection has not been opened, because connections are opened at a limited rate. */
        WAITING,
        CONNECTING,
        CONNECTED,
        UNREACHABLE
    }

    /**
     * One provider.
     *
     * @param heard whether the connection is open and the provider has sent bytes on it. Also true for an open
     *     connection if the transport does not report whether the provider has sent bytes
     * @param lastFailure the reason why the provider is not connected, or empty if it is connected
     * @param nextAttempt the time until the client's next planned attempt to connect, or null if no attempt is planned
     * @param held whether the provider stays in use although the source no longer lists it
     * @param stalledFor how long the provider has sent nothing although calls are waiting, or zero if the provider is
     *     not stalled
     * @param cost the provider's response time as a multiple of the usual response time
     * @param score the score that load balancing compares; lower is better
     * @param inFlight the number of calls and streams that have not ended
     * @param calls the number of calls and streams of all references that use the connection, since the client started
     * @param shareOfLastMinute the provider's share of this reference's calls in the last minute, from 0 to 1
     * @param ejectedFor the remaining time of the ejection, or zero if the provider is not ejected. A provider without
     *     the reference's service is also reported as ejected
     * @param ejectedWhy the reason for the last ejection, or empty if the provider has never been ejected
     * @param ejections the number of ejections since the client started
     */
    public record Provider(
            Endpoint endpoint,
            Attributes attributes,
            Link link,
            boolean heard,
            String lastFailure,
            @Nullable Duration nextAttempt,
            boolean held,
            Duration stalledFor,
            double cost,
            double score,
            int inFlight,
            long calls,
            double shareOfLastMinute,
            Duration ejectedFor,
            String ejectedWhy,
            long ejections) {

        /** @param allCalls the number of calls to all providers in the last minute */
        static Provider of(Target target, long allCalls, long now) {
            Node node = target.node();
            ClientConnection connection = node.link().opened();
            long missingNanos = target.missingForNanos(now);
            return new Provider(
                    node.endpoint(),
                    target.attributes(),
                    link(connection),
                    connection != null && connection.isAvailable() && connection.wasHeard(),
                    connection == null || connection.isAvailable() ? "" : connection.lastFailure(),
                    nextAttempt(connection),
                    target.isHeld(),
                    Duration.ofNanos(node.stalledForNanos(now)),
                    node.cost(now),
                    target.score(now),
                    node.inFlight(),
                    node.calls(),
                    allCalls == 0 ? 0 : (double) target.callsOfLastMinute(now) / allCalls,
                    Duration.ofNanos(Math.max(missingNanos, node.ejection().forNanos(now))),
                    missingNanos > 0
                            ? "the service is missing there"
                            : node.ejection().why(),
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

    static ClusterReport of(String source, LastGood list, int passedOver, List<Target> targets, long now) {
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
                passedOver,
                list.held().size(),
                list.held().isEmpty() ? Duration.ZERO : Duration.ofNanos(now - list.heldSinceNanos()),
                list.whyHeld(),
                targets.stream()
                        .map(target -> Provider.of(target, allCalls, now))
                        .toList());
    }
}
