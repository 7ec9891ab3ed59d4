package tern.rpc.cluster;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.MethodDescriptor;
import tern.rpc.NanoClock;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.TimeLimit;
import tern.rpc.endpoint.Candidate;
import tern.rpc.endpoint.EndpointSnapshot;
import tern.rpc.endpoint.EndpointSource;
import tern.rpc.endpoint.Outcome;
import tern.rpc.endpoint.Rules;
import tern.rpc.transport.ClientConnection;
import tern.rpc.transport.RemoteFailures;

/**
 * The providers of one reference. {@link Membership} derives them from the list of a source. One of them is chosen for
 * each attempt of a call. Thread-safe.
 */
public final class Cluster implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Cluster.class);

    private final String service;
    private final EndpointSource source;
    private final SharedSources sources;
    private final ClusterSettings settings;
    private final ClusterStatistics statistics = new ClusterStatistics();
    private final Survey survey;
    private final ClusterLog log;
    private final NanoClock clock;
    private final MethodPresence methods = new MethodPresence();
    private final CountDownLatch heard = new CountDownLatch(1);

    private final Membership members;
    private volatile SharedSources.@Nullable Subscription subscription;

    /**
     * @param service the name of the service in logs and error messages
     * @param methods the names of the service's methods
     * @param protocol the reference's protocol; endpoints with another protocol are ignored
     * @param timer runs short tasks
     * @param rankings the ranked providers of long lists; shared by all clusters of the client
     */
    Cluster(
            String service,
            List<String> methods,
            String protocol,
            EndpointSource source,
            SharedSources sources,
            Nodes nodes,
            ClusterSettings settings,
            NanoClock clock,
            ScheduledExecutorService timer,
            Rankings rankings) {
        this.service = service;
        this.source = source;
        this.sources = sources;
        this.settings = settings;
        this.clock = clock;
        this.log = new ClusterLog(service, LOG, clock, timer);
        this.survey = new Survey(nodes, statistics, clock.nanoTime());
        this.members = new Membership(
                service,
                name(),
                settings,
                new ProviderChoice(service, methods, protocol, settings, source.key(), rankings),
                nodes,
                statistics,
                survey,
                log,
                failed -> sources.notConnected(source.key(), failed),
                clock,
                timer);
    }

    /**
     * Subscribes to the source of the provider list.
     *
     * @param atMost the maximum time to wait for the first list, so that the first call finds a provider. Does not wait
     *     if another reference has already waited for the same list without success
     */
    public void start(Duration atMost) {
        SharedSources.Subscription made = sources.subscribe(source, service, this::changed);
        boolean isLate;
        synchronized (this) {
            isLate = members.isClosed();
            subscription = isLate ? null : made;
        }
        if (isLate) {
            made.close(); // Another thread has closed this cluster in the meantime.
            return;
        }
        try {
            if (!atMost.isZero() && !made.isLate() && !heard.await(atMost.toNanos(), TimeUnit.NANOSECONDS)) {
                made.waitedInVain();
                refresh(); // After the refresh, the source may report a list that it has stored earlier.
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void changed(EndpointSnapshot snapshot) {
        members.listed(snapshot);
        if (snapshot.state() != EndpointSnapshot.State.UNKNOWN
                || !snapshot.why().isEmpty()) {
            heard.countDown();
        }
    }

    /** Sets the application's rules, which take precedence over the source's rules. */
    public void rule(Rules current) {
        members.rule(current);
    }

    private String name() {
        String name = source.toString();
        return name.isEmpty() ? "an empty list" : name;
    }

    // The following methods choose a provider.

    /**
     * Picks the provider of the next attempt. Prefers a good provider, then an avoided provider, then a provider that
     * is being connected. If there is none, picks any provider, so that the call fails with the reason why that
     * provider cannot be reached.
     *
     * @param method the method's name; for overloads, its {@link MethodDescriptor#distinctName()}
     * @param key the hash of the call's key, or 0 if the call has no key
     * @param tag the call's tag, or empty for the reference's tag
     * @param forceTag whether a call with a tag must not go to providers without a tag
     * @param excluded the provider of the previous attempt; may be null
     * @throws RpcException UNAVAILABLE if no provider is known
     */
    public Target pick(String method, long key, String tag, boolean forceTag, @Nullable Target excluded, long now) {
        Group group = group(method, tag, forceTag, now);
        if (group == null) {
            if (members.isClosed()) {
                throw ClusterTexts.closed(service);
            }
            refresh();
            throw ClusterTexts.nobody(
                    service,
                    name(),
                    tagOrDefault(tag),
                    members.routes().of(method),
                    members.list(),
                    now,
                    source.advice());
        }
        if (survey.isDue(now)) {
            if (survey.run(members.routes(), now)) {
                members.reviewSoon();
            }
            if (methods.review(members.routes(), now)) {
                group = Objects.requireNonNullElse(group(method, tag, forceTag, now), group);
            }
        }
        List<Target> targets = group.targets();
        if (targets.size() == 1) {
            Target only = targets.get(0);
            if (!only.isUsable() && !only.node().link().isConnecting()) {
                refresh();
            }
            return only;
        }
        Target trial = group.takesTrials() ? survey.takeTrial() : null;
        if (trial != null
                && trial != excluded
                && trial.isUsable()
                && trial.attributes().weight() > 0
                && targets.contains(trial)) {
            survey.tried(trial, now);
            return trial;
        }
        Candidate picked = group.pick(key, excluded, now);
        if (picked instanceof Target target && target.isUsable()) {
            return target;
        }
        Target reachable = group.reachable(excluded);
        if (reachable != null) {
            return reachable;
        }
        refresh();
        return group.any(excluded);
    }

    /**
     * Returns the providers for calls to the method with the given tag. Providers that lack the method are left out
     * while another provider can take the calls.
     *
     * @param tag the call's tag, or empty for the reference's tag
     */
    private @Nullable Group group(String method, String tag, boolean forceTag, long now) {
        Group group = allowed(method, tag, forceTag);
        if (group == null) {
            return null;
        }
        Group having = methods.having(method, group, now);
        return having == group || having.hasUsable(null, now) ? having : group;
    }

    /** @param tag the call's tag, or empty for the reference's tag */
    private @Nullable Group allowed(String method, String tag, boolean forceTag) {
        Routes current = members.routes().of(method);
        Group group = current.group(tagOrDefault(tag), forceTag);
        return group == null && current.leftOut(tagOrDefault(tag)) != null
                ? connectedGroup(method, tag, forceTag)
                : group;
    }

    /**
     * Connects to the providers with the given tag. The client is not connected to these providers yet, because there
     * are too many different tags.
     */
    private @Nullable Group connectedGroup(String method, String tag, boolean forceTag) {
        members.want(() -> members.routes().of(method).leftOut(tagOrDefault(tag)));
        return members.routes().of(method).group(tagOrDefault(tag), forceTag);
    }

    private String tagOrDefault(String tag) {
        return tag.isEmpty() ? settings.tag() : tag;
    }

    /**
     * Returns a slow or failing provider that should get a copy of an idempotent call as a probe, or null if there is
     * none. The caller does not wait for the answer to the probe. Each provider is returned at most once per second.
     *
     * @param tag the call's tag, or empty for the reference's tag
     */
    public @Nullable Target takeProbe(String method, String tag, boolean forceTag, long now) {
        if (!survey.hasSuspect()) {
            return null;
        }
        Group group = group(method, tag, forceTag, now);
        return group == null ? null : survey.takeProbe(group.targets(), now);
    }

    /** Records that the method has answered a call, with a result or with a failure of the method. */
    public void served(Target target, MethodDescriptor method, long now) {
        methods.found(target, method.distinctName(), now);
        served(target, method.index());
    }

    private void served(Target target, int method) {
        if (target.presence().served(target.node().link().usableSinceNanos(), method)) {
            log.availableAgain(target);
        }
    }

    /**
     * Records a failed attempt, and returns whether the provider lacks the service or the method. Such a provider is
     * avoided for some time while another provider can take the calls.
     */
    public boolean isMissing(Target target, MethodDescriptor method, RpcException failure, long now) {
        RemoteFailures.Missing missing = RemoteFailures.missing(failure);
        long connectedSince = target.node().link().usableSinceNanos();
        if (missing == RemoteFailures.Missing.SERVICE_OR_METHOD) {
            missing = !target.presence().wasServed(connectedSince)
                    ? RemoteFailures.Missing.SERVICE
                    : target.presence().wasServed(connectedSince, method.index())
                            ? RemoteFailures.Missing.NOTHING // the failure was reported by the method itself
                            : RemoteFailures.Missing.METHOD;
        }
        if (missing == RemoteFailures.Missing.SERVICE) {
            long avoidedNanos = target.presence().missing(connectedSince, now);
            if (avoidedNanos > 0) {
                log.missing(target, avoidedNanos, failure);
            }
        } else if (missing == RemoteFailures.Missing.METHOD) {
            served(target, -1);
            boolean isRepeatable =
                    failure.wasExecuted() == Executed.NO && !method.type().clientStreams();
            if (methods.missing(target, method.distinctName(), isRepeatable, now) > 0) {
                log.missingMethod(target, method, failure);
            }
        }
        return missing != RemoteFailures.Missing.NOTHING;
    }

    /** Returns whether the provider lacks the method or the whole service, according to its last answers. */
    public boolean lacks(Target target, String method, long now) {
        return target.lacksService(now) || methods.isMissing(target, method);
    }

    /**
     * Returns whether a provider other than {@code besides} can take the call, and probably offers the service and the
     * method.
     */
    public boolean isServedElsewhere(String method, String tag, boolean forceTag, Target besides, long now) {
        Group group = allowed(method, tag, forceTag);
        Group having = group == null ? null : methods.having(method, group, now);
        return having != null
                && (having != group || !methods.isMissing(besides, method))
                && having.hasUsable(besides, now);
    }

    /**
     * Returns the providers for calls to the method with the given tag, including unreachable providers. Leaves out the
     * providers that lack the method, while another provider can take the calls.
     */
    public List<Target> targets(String method, String tag, boolean forceTag) {
        Group group = group(method, tag, forceTag, clock.nanoTime());
        return group == null ? List.of() : group.targets();
    }

    /** Like {@link #targets(String, String, boolean)}, but also returns providers that lack the method. */
    public List<Target> targetsWithOrWithout(String method, String tag, boolean forceTag) {
        Group group = allowed(method, tag, forceTag);
        return group == null ? List.of() : group.targets();
    }

    /**
     * Records the outcome of an attempt that has ended. The method and the tag must be the values that were passed to
     * {@link #pick}. Otherwise, the wrong balancer would record the outcome.
     *
     * @param tag the call's tag, or empty for the reference's tag
     */
    public void ended(Target target, String method, String tag, boolean forceTag, Outcome outcome, long tookNanos) {
        Group group = group(method, tag, forceTag, clock.nanoTime());
        if (group == null) {
            return;
        }
        try {
            group.ended(target, outcome, tookNanos);
        } catch (RuntimeException | Error e) {
            log.balancerFailed(settings.policyName(), e);
        }
    }

    /** Requests the source to look up the providers again soon. */
    public void refresh() {
        SharedSources.Subscription current = subscription;
        if (current != null) {
            current.refresh();
        }
    }

    /**
     * Starts connecting to unreachable providers, at a limited rate. Sends a ping to connected providers that have sent
     * nothing.
     */
    public void attempt() {
        for (Target target : members.routes().all()) {
            ClientConnection connection = target.node().link().opened();
            if (connection != null && connection.isAvailable() && !connection.wasHeard()) {
                connection.probe();
            } else if (connection != null && !connection.isAvailable() && !connection.isConnecting()) {
                connection.connectSoon();
            }
        }
    }

    // Meters and reports

    public List<Target> targets() {
        return members.routes().all();
    }

    /** Returns whether at least one provider is connected. */
    public boolean isAvailable() {
        return members.routes().all().stream()
                .map(target -> target.node().link().opened())
                .anyMatch(connection -> connection != null && connection.isAvailable());
    }

    /** Returns the time limit that rules set for the method, or null if no rule sets a limit. */
    public @Nullable TimeLimit timeLimit(String method) {
        return members.timeLimit(method);
    }

    /** Returns whether the call's key determines its provider, according to the settings or rules. */
    public boolean isChosenByKey() {
        return members.isChosenByKey();
    }

    /**
     * Returns whether a call to the method with the given tag would be sent immediately. A provider that has accepted
     * the connection but has sent nothing does not count, because a frozen process also accepts connections. If some
     * providers lack the method, only the others count. Also returns true after {@link #close}, because waiting for a
     * provider is then pointless.
     */
    public boolean canTake(String method, String tag, boolean forceTag) {
        if (members.isClosed()) {
            return true;
        }
        Group group = allowed(method, tag, forceTag);
        if (group == null) {
            return false;
        }
        return methods.having(method, group, clock.nanoTime()).isUsable();
    }

    /**
     * Returns a snapshot of all connections and of the provider list, including unlisted providers that are still in
     * use.
     */
    public ClusterReport report(long now) {
        return members.report(now);
    }

    /**
     * Returns the reason why all providers are avoided. The caller appends this text to the message of a failed call.
     * Returns an empty string if not all providers are avoided.
     */
    public String whyAvoided(long now) {
        return ClusterTexts.avoided(members.routes().all(), now);
    }

    /**
     * Returns the reason why no known provider may accept a call with the given tag, or an empty string if a provider
     * may accept it.
     */
    public String whyNobody(String tag, boolean forceTag, long now) {
        Routes current = members.routes();
        return current.group(tagOrDefault(tag), forceTag) == null
                ? ClusterTexts.whyNobody(service, name(), tagOrDefault(tag), current, members.list(), now)
                        + source.advice()
                : "";
    }

    /**
     * Returns the source's advice for the error message of a call that reaches no provider; an empty string if there is
     * none.
     */
    public String advice() {
        return source.advice();
    }

    /** Returns the name of the source, for use in messages. */
    public String sourceName() {
        return source.toString();
    }

    /** Releases the source and the connections. Later calls have no effect. */
    @Override
    public void close() {
        SharedSources.@Nullable Subscription current;
        synchronized (this) {
            members.close();
            current = subscription;
            subscription = null;
        }
        if (current != null) {
            // The source is closed without holding the lock, because one of its threads may be waiting for the lock.
            current.close();
        }
    }
}
