package tern.rpc.cluster;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.NanoClock;
import tern.rpc.endpoint.Attributes;
import tern.rpc.endpoint.Candidate;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.transport.ClientConnection;

/**
 * A provider of one cluster: the shared node, and the attributes that the cluster's source reports. A target allocates
 * the state of its calls only at its first call, because many targets of a client with many references get no calls.
 * Thread-safe.
 */
public final class Target implements Candidate {

    /** The fraction of its weight that a provider has immediately after it has become usable. */
    private static final double FIRST_SHARE = 0.1;

    /** A provider that has been unreachable for longer is probably down. */
    private static final long SOON_NANOS = TimeUnit.SECONDS.toNanos(3);

    private final Node node;
    private final ClusterStatistics statistics;
    private final NanoClock clock;
    private volatile @Nullable Calls calls; // The field "calls" is null until the first call.
    private volatile Attributes attributes;
    private volatile boolean held;
    private volatile boolean ejectionIgnored;
    private boolean drains; // Only the thread that changes the provider list uses the field "drains".
    private volatile long drainsSinceNanos; // drainsSinceNanos is meaningful only while the provider is draining
    private volatile double relativeWeight = 1; // The provider's weight as a multiple of the mean weight.
    private volatile long callsAtCopy; // The number of the reference's calls at the time of the provider's last probe.

    /** The state of the calls that the reference has sent to the provider. */
    private record Calls(AttemptBudget retries, LastMinute lastMinute, ServicePresence presence) {}

    Target(Node node, ClusterStatistics statistics, NanoClock clock, Attributes attributes) {
        this.node = node;
        this.statistics = statistics;
        this.clock = clock;
        this.attributes = attributes;
    }

    private Calls calls() {
        Calls current = calls;
        return current == null ? firstCall() : current;
    }

    private synchronized Calls firstCall() {
        Calls current = calls;
        if (current == null) {
            current = new Calls(
                    AttemptBudget.forRetries(clock),
                    new LastMinute(clock.nanoTime()),
                    new ServicePresence(node.link().usableSinceNanos()));
            calls = current;
        }
        return current;
    }

    public Node node() {
        return node;
    }

    /** Returns the budget for retries after failures of this provider. */
    public AttemptBudget retries() {
        return calls().retries();
    }

    /**
     * Returns the number of calls and streams that the reference has sent to this provider in approximately the last
     * minute.
     */
    long callsOfLastMinute(long now) {
        Calls current = calls;
        return current == null ? 0 : current.lastMinute().of(current.retries().calls(), now);
    }

    /** Returns the connection. Opens it if necessary. */
    public ClientConnection connection() {
        return node.link().connection();
    }

    @Override
    public Endpoint endpoint() {
        return node.endpoint();
    }

    @Override
    public Attributes attributes() {
        return attributes;
    }

    void attributes(Attributes current, boolean isHeld, long now) {
        if (current.draining() && !drains) {
            drainsSinceNanos = now;
        }
        drains = current.draining();
        attributes = current;
        held = isHeld;
    }

    /** Returns how long the provider has been draining, in nanoseconds. Valid only while it is draining. */
    long drainsForNanos(long now) {
        return now - drainsSinceNanos;
    }

    /** Returns whether the provider still answers even though the source no longer lists it. */
    public boolean isHeld() {
        return held;
    }

    /**
     * Sets whether the provider's ejection is ignored. Ejections are ignored if too many providers are ejected. While
     * its ejection is ignored, the provider gets calls.
     */
    void ignoreEjection(boolean isIgnored) {
        ejectionIgnored = isIgnored;
    }

    long callsAtCopy() {
        return callsAtCopy;
    }

    void callsAtCopy(long calls) {
        callsAtCopy = calls;
    }

    void relativeWeight(double weight) {
        relativeWeight = weight;
    }

    @Override
    public boolean isUsable() {
        return node.link().isUsable() && !attributes.draining();
    }

    /**
     * Returns whether a connection to the provider is being opened, and the provider has not been unreachable for long.
     */
    boolean isUsableSoon(long nowNanos) {
        return node.link().isConnecting()
                && node.link().outOfReachNanos(nowNanos) < SOON_NANOS
                && !attributes.draining();
    }

    @Override
    public boolean isAvoided(long nowNanos) {
        return node.isStalled(nowNanos) || (node.isEjected(nowNanos) && !ejectionIgnored) || lacksService(nowNanos);
    }

    /** Returns whether the provider lacks the reference's service, according to its last answers. */
    public boolean lacksService(long nowNanos) {
        return missingForNanos(nowNanos) > 0;
    }

    /** Returns how much longer the provider is avoided because it lacks the service, or 0 if it is not avoided. */
    long missingForNanos(long nowNanos) {
        Calls current = calls;
        return current == null
                ? 0
                : current.presence().avoidedForNanos(node.link().usableSinceNanos(), nowNanos);
    }

    /** Returns the object that records whether the provider offers the reference's service. */
    ServicePresence presence() {
        return calls().presence();
    }

    @Override
    public int inFlight() {
        return node.inFlight();
    }

    @Override
    public double score(long nowNanos) {
        double cost = node.expectedCost(nowNanos);
        if (!node.isKnown()) {
            cost = Math.max(cost, statistics.medianCost());
        }
        return cost * (1 + node.inFlight() / relativeWeight);
    }

    /**
     * Returns the provider's response time as a multiple of the usual response time, for a comparison with other
     * providers. Returns 1 if the provider is healthy.
     */
    double judgedCost(long nowNanos) {
        return node.judgedCost(nowNanos);
    }

    /** Returns whether the provider is slow or failing. If so, a balancer should also consider another provider. */
    boolean isSlow(long nowNanos) {
        return node.isSlow(nowNanos);
    }

    /** Returns the provider's weight as a multiple of the mean weight. */
    double relativeWeight() {
        return relativeWeight;
    }

    /**
     * Returns the fraction of its weight that the provider currently has. The fraction is below 1 in the first 30 s
     * after the provider became usable, unless all providers are new.
     */
    double warmth(long nowNanos) {
        if (!statistics.anyWarm()) {
            return 1;
        }
        long age = nowNanos - node.link().usableSinceNanos();
        return age >= ClusterStatistics.SLOW_START_NANOS
                ? 1
                : Math.max(FIRST_SHARE, (double) age / ClusterStatistics.SLOW_START_NANOS);
    }

    @Override
    public String toString() {
        return node.toString();
    }
}
