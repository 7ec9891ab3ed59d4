package tern.rpc.cluster;

import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.NanoClock;
import tern.rpc.PeriodicTask;
import tern.rpc.TimeLimit;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.EndpointSnapshot;
import tern.rpc.endpoint.Instance;
import tern.rpc.endpoint.Rules;

/**
 * The providers that one reference uses. The steps from a list to the providers are: keep the last good list, apply the
 * rules, route by tags, choose a subset, and connect. Each change of the list or the rules replaces one immutable
 * object. Members that cannot be reached are replaced. Thread-safe.
 */
final class Membership {

    private final String service;
    private final String source;
    private final ClusterSettings settings;
    private final ProviderChoice choice;
    private final Nodes nodes;
    private final Nodes.User user;
    private final ClusterStatistics statistics;
    private final Survey survey;
    private final ClusterLog log;
    private final Consumer<List<Node>> notConnected;
    private final NanoClock clock;
    private final Replacements replacements; // This object's lock guards the field "replacements".
    // This object's lock must be held to call any method except timeLimit().
    private final RulesInForce rules = new RulesInForce();
    private final Reviews reviews;

    private volatile Routes routes;
    private volatile LastGood list;
    private volatile boolean chosenByKey;
    private volatile boolean closed;

    /**
     * @param service the name of the service in logs
     * @param source the name of the source of the lists in logs
     * @param notConnected logs that providers cannot be reached; called without a lock
     * @param timer runs short tasks
     */
    Membership(
            String service,
            String source,
            ClusterSettings settings,
            ProviderChoice choice,
            Nodes nodes,
            ClusterStatistics statistics,
            Survey survey,
            ClusterLog log,
            Consumer<List<Node>> notConnected,
            NanoClock clock,
            ScheduledExecutorService timer) {
        this.service = service;
        this.source = source;
        this.settings = settings;
        this.choice = choice;
        this.nodes = nodes;
        this.user = new Nodes.User(service, this::reviewSoon);
        this.statistics = statistics;
        this.survey = survey;
        this.log = log;
        this.notConnected = notConnected;
        this.clock = clock;
        this.replacements = new Replacements(nodes, user, clock.nanoTime());
        this.reviews =
                new Reviews(new PeriodicTask("The review of the providers of " + service, this::review), clock, timer);
        this.routes = new Routes(List.of(), settings);
        this.list = LastGood.before(EndpointSnapshot.unknown(Instant.now(), ""), clock.nanoTime());
    }

    Routes routes() {
        return routes;
    }

    LastGood list() {
        return list;
    }

    /** Returns whether the call's key determines its provider, according to the settings or rules. */
    boolean isChosenByKey() {
        return chosenByKey;
    }

    boolean isClosed() {
        return closed;
    }

    /** Returns the time limit that rules set for the method, or null if no rule sets a limit. */
    @Nullable
    TimeLimit timeLimit(String method) {
        return rules.timeLimit(method);
    }

    /** Uses a list that the source reports. Has no effect after {@link #close}. */
    synchronized void listed(EndpointSnapshot snapshot) {
        if (!closed) {
            long now = clock.nanoTime();
            use(list.after(snapshot, endpoint -> nodes.isAnswering(endpoint, now), now));
        }
    }

    /** Sets the application's rules, which take precedence over the source's rules. */
    synchronized void rule(Rules current) {
        rules.own(current);
        if (!closed) {
            use(list);
        }
    }

    /**
     * Connects to the providers of a tag. The tag was left out, because there are too many different tags.
     *
     * @param leftOut supplies the tag; null if it is no longer left out
     */
    synchronized void want(Supplier<@Nullable String> leftOut) {
        String tag = leftOut.get();
        if (tag != null && choice.want(tag)) {
            connect(list);
            // Another reference may have found earlier that one of the newly used providers cannot take calls, so the
            // providers are reviewed soon.
            reviewSoon();
        }
    }

    /** Reviews the connected providers soon, because one of them cannot take calls. */
    void reviewSoon() {
        reviews.within(Replacements.SOON_NANOS);
    }

    /**
     * Stops using unlisted providers that no longer answer, replaces members of the subset that cannot be reached,
     * and logs which providers are not connected.
     */
    private void review() {
        try {
            // The lock is not held during this notification, because the source may be waiting for the lock.
            notConnected.accept(reviewed());
        } finally {
            // The next review is scheduled even after an exception, so that unlisted providers are not kept forever.
            long next = replacements.untilReviewNanos();
            if (!closed && next != Replacements.NEVER) {
                reviews.within(next);
            }
        }
    }

    /** Returns the providers whose outage has begun. */
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
        return members.stream()
                .map(Target::node)
                .filter(node -> node.link().takeFailure())
                .toList();
    }

    private void use(LastGood next) {
        LastGood before = list;
        rules.combine(next.snapshot().rules(), service);
        // If applying the current rules has failed, for example because memory was low, the routes still follow the
        // previous rules.
        boolean isNewRule = routes.rules() != rules.current();
        if (isNewRule || next.listed() != before.listed() || next.held() != before.held()) {
            replacements.listed(before.listed(), next.listed(), routes.all());
            choice.warnAboutZone(next.listed());
            connect(next);
        }
        list = next;
        log.listed(source, before, next);
        if (!next.held().isEmpty()
                || routes.all().stream()
                        .anyMatch(target -> !target.node().link().isUsable())) {
            reviewSoon();
        }
    }

    private void connect(LastGood next) {
        Rules ruling = rules.current();
        Map<Endpoint, Target> before = new HashMap<>();
        routes.all().forEach(target -> before.put(target.endpoint(), target));
        ProviderChoice.Connected connected = choice.connected(next.listed(), ruling, replacements.passedOver());
        Map<Endpoint, Target> chosen = new LinkedHashMap<>();
        List<Node> shared = new ArrayList<>();
        try {
            for (Instance instance : connected.instances()) {
                // If a list contains an endpoint twice, only one target is created, so that the endpoint's node is
                // acquired only once.
                chosen.computeIfAbsent(instance.endpoint(), listed -> target(instance, false, before, shared));
            }
            for (Instance instance : choice.held(next, ruling)) {
                chosen.computeIfAbsent(instance.endpoint(), unlisted -> target(instance, true, before, shared));
            }
            replacements.chosen(() -> choice.connected(next.listed(), ruling, Map.of()), chosen.keySet());
            ClusterSettings ruled = choice.settings(ruling);
            Routes changed = new Routes(List.copyOf(chosen.values()), ruled, ruling, connected.leftOut());
            survey.measureGroups(changed, clock.nanoTime());
            chosenByKey = Policies.isByKey(ruled.policy());
            routes = changed;
            // If memory is low, for example, the review fails. The connected providers then stay the same.
        } catch (RuntimeException | Error e) {
            shared.forEach(node -> nodes.giveBack(node, user));
            throw e;
        }
        before.values().forEach(gone -> replacements.release(gone.node()));
    }

    /**
     * Returns the target of a provider. If {@code before} contains the target, removes it from {@code before}.
     * Otherwise, creates the target and adds its node to {@code shared}.
     */
    private Target target(Instance instance, boolean isHeld, Map<Endpoint, Target> before, List<Node> shared) {
        Target target = before.remove(instance.endpoint());
        if (target == null) {
            Node node = nodes.share(instance.endpoint(), user);
            shared.add(node);
            target = new Target(node, statistics, clock, instance.attributes());
        } else if (!target.attributes().equals(instance.attributes())) {
            // A change of the attributes can mean that the provider has just been restarted, so an attempt to connect
            // begins.
            nodes.attempt(target.node(), clock.nanoTime());
        }
        target.attributes(instance.attributes(), isHeld, clock.nanoTime());
        return target;
    }

    /** Returns a snapshot of all connections and of the provider list. */
    synchronized ClusterReport report(long now) {
        return ClusterReport.of(source, list, replacements.countWithout(routes.all()), routes.all(), now);
    }

    /** Releases the connections. */
    synchronized void close() {
        routes.all().forEach(target -> nodes.giveBack(target.node(), user));
        replacements.close();
        routes = new Routes(List.of(), settings);
        // The routes are removed before the object is marked as closed. In the opposite order, a waiting call could see
        // that it is closed, find a provider in the old routes, and be sent.
        closed = true;
    }
}
