package tern.rpc.cluster;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.NanoClock;
import tern.rpc.PeriodicTask;
import tern.rpc.RpcException;
import tern.rpc.TimeLimit;
import tern.rpc.endpoint.Candidate;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.EndpointSnapshot;
import tern.rpc.endpoint.EndpointSource;
import tern.rpc.endpoint.Instance;
import tern.rpc.endpoint.Outcome;
import tern.rpc.endpoint.Rules;
import tern.rpc.transport.ClientConnection;
import tern.rpc.transport.RemoteFailures;

/**
 * The providers of one reference. For each attempt, a provider is chosen from the list that a source reports. The steps
 * are: keep the last good list, route by tags, choose a subset, connect, score, and pick. Each change of the list or
 * the rules replaces one immutable object. Thread-safe.
 */
public final class Cluster implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Cluster.class);

    private final String service;
    private final EndpointSource source;
    private final SharedSources sources;
    private final Nodes nodes;
    private final ClusterSettings settings;
    private final ProviderChoice choice;
    private final NanoClock clock;
    private final ClusterStatistics statistics = new ClusterStatistics();
    private final Survey survey;
    private final ClusterLog log;
    private final CountDownLatch heard = new CountDownLatch(1);

    private volatile Routes routes;
    private volatile LastGood list;
    // This object's lock must be held to call any method except timeLimit().
    private final RulesInForce rules = new RulesInForce();
    private volatile boolean chosenByKey;
    private volatile SharedSources.@Nullable Subscription subscription;
    private final Replacements replacements; // This object's lock guards this field.
    private final Reviews reviews;
    private volatile boolean closed;

    /**
     * @param service the name of the service in logs and error messages
     * @param methods the names of the service's methods
     * @param protocol the reference's protocol; endpoints with another protocol are ignored
     * @param timer runs short tasks
     * @param client a number that identifies the client
     * @param lastChoice the last choice from a long list; shared by all clusters of the client
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
            long client,
            LastChoice lastChoice) {
        this.service = service;
        this.source = source;
        this.sources = sources;
        this.nodes = nodes;
        this.settings = settings;
        this.choice = new ProviderChoice(service, methods, protocol, settings, client, lastChoice);
        this.clock = clock;
        this.routes = new Routes(List.of(), settings);
        this.list = LastGood.before(EndpointSnapshot.unknown(Instant.now(), ""), clock.nanoTime());
        this.log = new ClusterLog(service, LOG, clock, timer);
        this.survey = new Survey(settings.zone(), nodes, statistics, clock.nanoTime());
        this.replacements = new Replacements(nodes, service, clock.nanoTime());
        this.reviews =
                new Reviews(new PeriodicTask("The review of the providers of " + service, this::review), clock, timer);
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
            isLate = closed;
            subscription = isLate ? null : made;
        }
        if (isLate) {
            made.close(); // Another thread has closed this cluster in the meantime.
            return;
        }
        try {
            if (!atMost.isZero() && !made.isLate() && !heard.await(atMost.toNanos(), TimeUnit.NANOSECONDS)) {
                made.waitedInVain();
                refresh(); // The source may have stored an old list, which it then reports.
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    // Provider list changes

    private synchronized void changed(EndpointSnapshot snapshot) {
        if (closed) {
            return;
        }
        long now = clock.nanoTime();
        use(list.after(snapshot, endpoint -> nodes.isAnswering(endpoint, now), now));
        if (snapshot.state() != EndpointSnapshot.State.UNKNOWN
                || !snapshot.why().isEmpty()) {
            heard.countDown();
        }
    }

    /** Sets the application's rules, which take precedence over the source's rules. */
    public synchronized void rule(Rules current) {
        rules.own(current);
        if (!closed) {
            use(list);
        }
    }

    /**
     * Stops using unlisted providers that no longer answer, replaces members of the subset that cannot be connected,
     * and logs which providers are not connected.
     */
    private void review() {
        try {
            List<Node> failed = reviewed();
            SharedSources.Subscription current = subscription;
            if (current != null) {
                current.notConnected(failed); // The lock is not held here, because the source may be waiting for it.
            }
        } finally {
            // The next review is scheduled even after an exception, so that unlisted providers are not kept forever.
            if (!closed) {
                reviews.within(replacements.untilReviewNanos());
            }
        }
    }

    /** Returns the providers for which an outage has begun. */
    private synchronized List<Node> reviewed() {
        if (closed) {
            return List.of();
        }
        long now = clock.nanoTime();
        List<Target> members = routes.all();
        members.forEach(target -> target.node().look(now));
        boolean isAnyListedUsable = members.stream().anyMatch(target -> !target.isHeld() && target.isUsable());
        LastGood later = list.later(endpoint -> nodes.isAnswering(endpoint, now), isAnyListedUsable, now);
        if (later.held().size() < list.held().size()) {
            use(later);
        }
        if (replacements.review(routes, list, choice.isSubset(list.listed()), survey.isInUse(now), now)) {
            connect(list);
        }
        return members.stream().map(Target::node).filter(Node::takeFailure).toList();
    }

    private void use(LastGood next) {
        LastGood before = list;
        boolean isNewRule = rules.combine(next.snapshot().rules(), service);
        if (isNewRule || next.listed() != before.listed() || next.held() != before.held()) {
            replacements.listed(next.listed(), routes.all());
            connect(next);
        }
        list = next;
        log.listed(name(), before, next);
        reviews.within(Replacements.SOON_NANOS);
    }

    private String name() {
        String name = source.toString();
        return name.isEmpty() ? "an empty list" : name;
    }

    private void connect(LastGood next) {
        Rules ruling = rules.current();
        Map<Endpoint, Target> before = new HashMap<>();
        routes.all().forEach(target -> before.put(target.endpoint(), target));
        Map<Endpoint, Target> chosen = new LinkedHashMap<>();
        Map<Endpoint, Long> passedOver = replacements.passedOver();
        ProviderChoice.Connected connected = choice.connected(next.listed(), ruling, passedOver);
        for (Instance instance : connected.instances()) {
            // If a list contains an endpoint twice, only one target is created, so that the endpoint's node is acquired
            // only once.
            chosen.computeIfAbsent(instance.endpoint(), listed -> target(instance, false, before));
        }
        for (Instance instance : choice.held(next, ruling)) {
            chosen.computeIfAbsent(instance.endpoint(), unlisted -> target(instance, true, before));
        }
        replacements.chosen(() -> choice.connected(next.listed(), ruling, Map.of()), chosen.keySet());
        choice.warnAboutZone(next.listed());
        ClusterSettings ruled = choice.settings(ruling);
        chosenByKey = Policies.isByKey(ruled.policy());
        Routes changed = new Routes(List.copyOf(chosen.values()), ruled, ruling, connected.leftOut());
        survey.measureGroups(changed, clock.nanoTime());
        routes = changed;
        before.values().forEach(gone -> replacements.release(gone.node()));
    }

    private Target target(Instance instance, boolean isHeld, Map<Endpoint, Target> before) {
        Target target = before.remove(instance.endpoint());
        if (target == null) {
            target = new Target(nodes.share(instance.endpoint(), service), statistics, clock, instance.attributes());
        }
        target.attributes(instance.attributes(), isHeld, clock.nanoTime());
        return target;
    }

    // Provider choice

    /**
     * Picks the provider of the next attempt. Prefers a good provider, then an avoided provider, then a provider that
     * is being connected. If there is none, picks any provider, so that the call fails with the reason why that
     * provider cannot be reached.
     *
     * @param method the method name
     * @param key the hash of the call's key, or 0 if the call has no key
     * @param tag the call's tag, or empty for the reference's tag
     * @param forceTag whether a call with a tag must not go to providers without a tag
     * @param excluded the provider of the previous attempt; may be null
     * @throws RpcException UNAVAILABLE if no provider is known
     */
    public Target pick(String method, long key, String tag, boolean forceTag, @Nullable Target excluded, long now) {
        Group group = group(method, tag, forceTag);
        if (group == null) {
            if (closed) {
                throw ClusterTexts.closed(service);
            }
            refresh();
            throw ClusterTexts.nobody(
                    service, name(), tagOrDefault(tag), routes.of(method), list, now, source.advice());
        }
        if (survey.isDue(now) && survey.run(routes, now)) {
            reviews.within(Replacements.SOON_NANOS);
        }
        List<Target> targets = group.targets();
        if (targets.size() == 1) {
            Target only = targets.get(0);
            if (!only.isUsable() && !only.node().isConnecting()) {
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

    /** @param tag the call's tag, or empty for the reference's tag */
    private @Nullable Group group(String method, String tag, boolean forceTag) {
        Routes current = routes.of(method);
        Group group = current.group(tagOrDefault(tag), forceTag);
        return group == null && current.leftOut(tagOrDefault(tag)) != null
                ? connectedGroup(method, tag, forceTag)
                : group;
    }

    /**
     * Connects to the providers with the given tag. The client is not connected to these providers yet, because there
     * are too many different tags.
     */
    private synchronized @Nullable Group connectedGroup(String method, String tag, boolean forceTag) {
        String leftOut = routes.of(method).leftOut(tagOrDefault(tag));
        if (leftOut != null && choice.want(leftOut)) {
            connect(list);
        }
        return routes.of(method).group(tagOrDefault(tag), forceTag);
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
        Group group = group(method, tag, forceTag);
        return group == null ? null : survey.takeProbe(group.targets(), now);
    }

    /** Records that the reference's service has answered a call, with a result or with a failure of the method. */
    public void served(Target target) {
        if (target.presence().served(target.node().usableSinceNanos())) {
            log.availableAgain(target);
        }
    }

    /**
     * Records a failed attempt, and returns whether the provider lacks the whole service. If so, this reference avoids
     * the provider for some time, if another provider can take the calls.
     */
    public boolean isServiceMissing(Target target, RpcException failure, long now) {
        RemoteFailures.Missing missing = RemoteFailures.missing(failure);
        long connectedSince = target.node().usableSinceNanos();
        if (missing == RemoteFailures.Missing.NOTHING
                || (missing == RemoteFailures.Missing.SERVICE_OR_METHOD
                        && target.presence().wasServed(connectedSince))) {
            return false;
        }
        long avoidedNanos = target.presence().missing(connectedSince, now);
        if (avoidedNanos > 0) {
            log.missing(target, avoidedNanos, failure);
        }
        return true;
    }

    /** Returns whether a provider other than {@code besides} can take the call and probably offers the service. */
    public boolean isServedElsewhere(String method, String tag, boolean forceTag, Target besides, long now) {
        Group group = group(method, tag, forceTag);
        return group != null && group.hasUsable(besides, now);
    }

    /** Returns the providers for calls to the method with the given tag, including unreachable providers. */
    public List<Target> targets(String method, String tag, boolean forceTag) {
        Group group = group(method, tag, forceTag);
        return group == null ? List.of() : group.targets();
    }

    /**
     * Records the outcome of an attempt that has ended. The method and the tag must be the values that were passed to
     * {@link #pick}. Otherwise, the wrong balancer would record the outcome.
     *
     * @param tag the call's tag, or empty for the reference's tag
     */
    public void ended(Target target, String method, String tag, boolean forceTag, Outcome outcome, long tookNanos) {
        Group group = group(method, tag, forceTag);
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

    /** Starts connecting to unreachable providers, at a limited rate. */
    public void attempt() {
        for (Target target : routes.all()) {
            ClientConnection connection = target.node().opened();
            if (connection != null && !connection.isAvailable() && !connection.isConnecting()) {
                connection.connectSoon();
            }
        }
    }

    // Meters and reports

    public List<Target> targets() {
        return routes.all();
    }

    /** Returns whether at least one provider is connected. */
    public boolean isAvailable() {
        return routes.all().stream()
                .map(target -> target.node().opened())
                .anyMatch(connection -> connection != null && connection.isAvailable());
    }

    /** Returns the time limit that rules set for the method, or null if no rule sets a limit. */
    public @Nullable TimeLimit timeLimit(String method) {
        return rules.timeLimit(method);
    }

    /** Returns whether the call's key determines its provider, according to the settings or rules. */
    public boolean isChosenByKey() {
        return chosenByKey;
    }

    /**
     * Returns whether a call to the method with the given tag would be sent immediately, or would only have to wait for
     * a connection that is being opened. Also returns true after {@link #close}, because waiting for a provider is then
     * pointless.
     */
    public boolean canTake(String method, String tag, boolean forceTag) {
        if (closed) {
            return true;
        }
        Group group = group(method, tag, forceTag);
        return group != null && group.isReachable();
    }

    /**
     * Returns a snapshot of all connections and of the provider list, including unlisted providers that are still in
     * use.
     */
    public synchronized ClusterReport report(long now) {
        return ClusterReport.of(name(), list, replacements.countWithout(routes.all()), routes.all(), now);
    }

    /**
     * Returns the reason why all providers are avoided. The caller appends this text to the message of a failed call.
     * Returns an empty string if not all providers are avoided.
     */
    public String whyAvoided(long now) {
        return ClusterTexts.avoided(routes.all(), now);
    }

    /**
     * Returns the reason why no known provider may accept a call with the given tag, or an empty string if a provider
     * may accept it.
     */
    public String whyNobody(String tag, boolean forceTag, long now) {
        Routes current = routes;
        return current.group(tagOrDefault(tag), forceTag) == null
                ? ClusterTexts.whyNobody(service, name(), tagOrDefault(tag), current, list, now) + source.advice()
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
            routes.all().forEach(target -> nodes.giveBack(target.node(), service));
            replacements.close();
            routes = new Routes(List.of(), settings);
            // The routes are removed before the cluster is marked as closed. In the opposite order, a waiting call
            // could see that the cluster is closed, find a provider in the old routes, and be sent.
            closed = true;
            current = subscription;
            subscription = null;
        }
        if (current != null) {
            // The source is closed without holding the lock, because one of its threads may be waiting for the lock.
            current.close();
        }
    }
}
