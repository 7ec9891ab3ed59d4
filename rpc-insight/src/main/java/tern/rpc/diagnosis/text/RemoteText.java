package tern.rpc.diagnosis.text;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.cause.CauseDescription;
import tern.rpc.diagnosis.excess.DelayedAcks;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.OperationCounts;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.excess.TimeOuts;
import tern.rpc.diagnosis.excess.UnchangedOperations;
import tern.rpc.diagnosis.failure.FailureText;
import tern.rpc.diagnosis.peer.SilentPeers;
import tern.rpc.diagnosis.peer.SlowProviders;
import tern.rpc.diagnosis.rule.HttpConnections;
import tern.rpc.diagnosis.rule.OutsideWork;
import tern.rpc.diagnosis.rule.Redirects;
import tern.rpc.diagnosis.stack.StackReader;

/** Creates the cause descriptions for other services that are called over HTTP or RPC. */
final class RemoteText {

    private static final String NO_LONGER_TIMEOUT = "use a fallback; a longer timeout would only let more calls wait";

    private static final String AT = " at ";
    private static final double LOSSY = 0.01;

    /**
     * A provider counts as hanging if a timeout ends the calls to it after at least {@value} times their usual time.
     */
    private static final double HANGS = 10;

    /** Calls are assumed to retry failed requests if they send at least {@value} times the usual number. */
    private static final double REPEATED = 3;

    /** A new kind of exchange is reported as additional if calls make it at least {@value} times. */
    private static final double SEVERAL = 2;

    private final Evidence evidence;
    private final ExcessTime excess;
    private final Operations operations;
    private final TimeOuts timeOuts;
    private final OperationCounts counts;
    private final SlowProviders providers;
    private final SilentPeers silent;
    private final UnchangedOperations unchanged;
    private final LargeBodyText bodies;

    RemoteText(Evidence evidence, ExcessTime excess, Operations operations, TimeOuts timeOuts) {
        this.evidence = evidence;
        this.excess = excess;
        this.operations = operations;
        this.timeOuts = timeOuts;
        this.counts = new OperationCounts(evidence, excess, operations);
        this.providers = new SlowProviders(evidence, operations);
        this.silent = new SilentPeers(excess, operations);
        this.unchanged = new UnchangedOperations(evidence, excess, operations);
        this.bodies = new LargeBodyText(evidence, excess, operations);
    }

    /** Returns the recommended change if calls run a new operation. */
    private Change additional(Part part, String what, Operations.Sum sum) {
        Phase phase = part.kind() == Kind.RPC ? Phase.RPC : Phase.HTTP;
        return Change.of(
                Where.CODE,
                "find out why calls make this " + what + " now"
                        + Operations.at(operations.placeOf(phase, part.name()))
                        + ", which they do not usually make: a job or a cache no longer provides its result in time"
                        + " (such as a token that nobody renews), or new code makes it; if it is needed, make fewer of"
                        + " them, use a cache, or make it in parallel to other work: " + part.name()
                        + String.format(Locale.ROOT, ", %.1f per call; the peer answers in ", sum.count())
                        + Times.millis(sum.eachNanos()) + " ms");
    }

    private CauseDescription redirects(Part part, List<String> facts) {
        String last = new Redirects(excess, operations, counts).finalExchange();
        String to = last == null ? "at " + OperationNames.redirectedTo(part.name()) : last;
        facts.add("redirect " + counts.text().redirects());
        return new CauseDescription(
                "MORE HTTP CALLS",
                part.name(),
                Change.of(
                        Where.CODE,
                        "call the final address " + to + " directly"
                                + Operations.at(operations.placeOf(Phase.HTTP, part.name()))
                                + ", or find out why the peer answers with redirects: "
                                + counts.text().redirects() + "; a different pool size does not help"),
                facts);
    }

    CauseDescription http(Part part) {
        boolean called = part.name().startsWith(StackReader.CALLED);
        Set<String> all = operations.allSlower(Kind.HTTP);
        List<String> facts = new ArrayList<>();
        facts.addAll(operations.figures("http", Phase.HTTP, part.name()));
        facts.addAll(bodies.facts(part));
        List<OutsideWork.Operation> outside = slowerOutside(part, facts);
        facts.addAll(network(part));
        if (part.name().isEmpty() && !all.isEmpty()) {
            return new CauseDescription(
                    "SLOW NETWORK",
                    "every HTTP peer",
                    Change.of(
                            Where.MACHINE,
                            "check the network of this machine, a proxy or the DNS resolver: " + String.join(", ", all)
                                    + " became slow together"),
                    facts);
        }
        String only = OperationNames.storeOfAll(part);
        int slower = only == null ? 0 : operations.allSlowerOf(Kind.HTTP, only).size();
        if (slower > 0) {
            facts.add("all      " + slower + " different requests to this peer are slower");
        }
        String host = only != null ? only : part.name().isEmpty() ? "HTTP peers" : part.name();
        Operations.Sum sum = operations.sum(Phase.HTTP, part.name());
        if (OperationNames.isFailing(host)) {
            return new CauseDescription(
                    "PEER FAILS",
                    host,
                    Change.of(
                            Where.PEER,
                            "find out why " + host + " fails: check its log and its limits"
                                    + Operations.at(operations.placeOf(Phase.HTTP, part.name())) + repeated()),
                    facts);
        }
        if (OperationNames.isRedirected(part.name()) && counts.areMoreRedirects()) {
            return redirects(part, facts);
        }
        if (counts.areMany(Kind.HTTP, part.name()) && !counts.isBehindEmptyCache(part) && !counts.wereRare(part)) {
            return new CauseDescription(
                    "MANY HTTP CALLS",
                    host,
                    Change.of(
                            Where.CODE,
                            "send one request instead of " + Math.round(sum.count())
                                    + " per call (or use a batch, a cache or parallel requests)"
                                    + Operations.at(operations.placeOf(Phase.HTTP, part.name())) + ": " + host
                                    + "; the peer itself answers in " + Times.millis(sum.eachNanos()) + " ms"
                                    + MoreText.usuallyFewer(counts, part)),
                    facts);
        }
        if (counts.areMore(part) && !timeOuts.areAttempts(part)) {
            facts.add(counts.text().figures(part));
            String place = operations.placeOf(Phase.HTTP, part.name());
            return new CauseDescription("MORE HTTP CALLS", host, MoreText.more(counts, part, place), facts);
        }
        CauseDescription large = bodies.large(part, facts);
        if (large != null) {
            return large;
        }
        String in = Operations.at(operations.placeOf(Phase.HTTP, part.name()));
        if (silent.isSilent(part)) {
            return silent(part, host, in, facts);
        }
        HttpConnections.Found found = new HttpConnections(evidence, excess)
                .of(part, host, in, sum.eachNanos(), operations.usualNamed(Phase.HTTP, part.name()));
        if (found != null) {
            facts.addAll(found.facts());
            return new CauseDescription(found.kind(), found.name(), found.change(), facts);
        }
        if (counts.areNew(part) && (counts.areUsualOfKind(Kind.HTTP) || sum.count() >= SEVERAL)) {
            facts.add(counts.text().figures(part));
            return new CauseDescription("MORE HTTP CALLS", host, additional(part, "exchange", sum), facts);
        }
        CauseDescription asUsual = MoreText.unchanged(
                unchanged, part, "MORE HTTP CALLS", operations.placeOf(Phase.HTTP, part.name()), facts);
        if (asUsual != null) {
            return asUsual;
        }
        CauseDescription read = bodies.read(host, in, facts);
        if (read != null) {
            return read;
        }
        String limit = timeOuts.failCalls(part) ? timeOuts.limitOf(part) : "";
        String meanwhile = timesOutLate(part, Phase.HTTP)
                ? NO_LONGER_TIMEOUT
                : timeOuts.failCalls(part)
                        ? "use a fallback, or a longer response timeout" + (limit.isEmpty() ? "" : " than " + limit)
                                + ", because calls fail at this timeout"
                        : "use a shorter response timeout or a fallback";
        String target = !outside.isEmpty()
                ? names(outside) + ", " + host + ","
                : called ? "the HTTP peer " + host + " (its name is not recorded)" : host;
        String isNew = counts.areNew(part)
                ? "; calls do not usually make this exchange, so also find out why they make it now"
                : OperationNames.isRedirected(part.name())
                        ? "; it answers with redirects, so call the final address directly"
                        : counts.newIn(part);
        return new CauseDescription(
                "SLOW HTTP PEER",
                host,
                Change.of(
                        Where.PEER,
                        "find out why " + target + " is slow: read its own log or diagnosis" + lossy(part)
                                + DelayedAcks.hint(part, excess, operations)
                                + isNew + "; meanwhile " + meanwhile
                                + Operations.at(called ? null : operations.placeOf(Phase.HTTP, part.name()))),
                facts);
    }

    /**
     * Returns the operations of other threads that have become slower, possibly including the given operation. Adds
     * their times to the facts.
     */
    private List<OutsideWork.Operation> slowerOutside(Part part, List<String> facts) {
        List<OutsideWork.Operation> slower = new OutsideWork(evidence).slowerIn(part);
        slower.forEach(operation -> facts.add("slower   " + operation.text()));
        return slower;
    }

    private static String names(List<OutsideWork.Operation> operations) {
        return operations.stream()
                .map(operation -> operation.now().name())
                .distinct()
                .collect(Collectors.joining(", "));
    }

    /** Returns additional advice for the case that calls retry failed requests several times. */
    private String repeated() {
        double usually = operations.usualCount(Phase.HTTP);
        double now = operations.count(Phase.HTTP);
        return usually > 0 && now >= REPEATED * usually
                ? String.format(
                        Locale.ROOT,
                        "; meanwhile use fewer attempts, with pauses, or a circuit breaker: each call sends %.0f"
                                + " requests, usually %.0f",
                        now,
                        Math.max(1, usually))
                : "";
    }

    CauseDescription rpc(Part part) {
        String only = OperationNames.storeOfAll(part);
        String service = only != null ? only : part.name().isEmpty() ? "another service" : part.name();
        List<String> facts = new ArrayList<>();
        facts.addAll(operations.figures("took", Phase.RPC, part.name()));
        List<OutsideWork.Operation> outside = slowerOutside(part, facts);
        String compared = endpoints(service);
        if (compared != null) {
            facts.add(compared);
        }
        facts.addAll(network(part));
        Set<String> all = operations.allSlower(Kind.RPC);
        if (part.name().isEmpty() && !all.isEmpty()) {
            String onlyService = onlyService(all);
            return onlyService != null
                    ? new CauseDescription(
                            "PEER",
                            onlyService,
                            Change.of(
                                    Where.PEER,
                                    "read the diagnosis of the providers of " + onlyService + ": "
                                            + String.join(", ", all)
                                            + " became slow together; if the providers are fast, check the network"),
                            facts)
                    : new CauseDescription(
                            "SLOW NETWORK",
                            "every provider",
                            Change.of(
                                    Where.MACHINE,
                                    "check the network of this machine: " + String.join(", ", all)
                                            + " became slow together"),
                            facts);
        }
        Operations.Sum sum = operations.sum(Phase.RPC, part.name());
        if (only == null
                && !part.name().isEmpty()
                && !part.name().contains(AT)
                && sum.count() >= Operations.MANY
                && !isSlowEverywhere(part)
                && !counts.isBehindEmptyCache(part)
                && !counts.wereRare(part)) {
            return new CauseDescription(
                    "MANY REMOTE CALLS",
                    service,
                    Change.of(
                            Where.CODE,
                            "make one remote call instead of " + Math.round(sum.count())
                                    + " per call (or use a method that takes a list, a cache or parallel calls)"
                                    + Operations.at(operations.placeOf(Phase.RPC, part.name())) + ": " + service
                                    + "; the providers answer in " + Times.millis(sum.eachNanos()) + " ms"
                                    + MoreText.usuallyFewer(counts, part)),
                    facts);
        }
        if (silent.isSilent(part)) {
            return silent(part, service, Operations.at(operations.placeOf(Phase.RPC, part.name())), facts);
        }
        if (counts.areMore(part) && !timeOuts.areAttempts(part)) {
            facts.add(counts.text().figures(part));
            String place = operations.placeOf(Phase.RPC, part.name());
            return new CauseDescription("MORE REMOTE CALLS", service, MoreText.more(counts, part, place), facts);
        }
        if (counts.areNew(part) && (counts.areUsualOfKind(Kind.RPC) || sum.count() >= SEVERAL)) {
            facts.add(counts.text().figures(part));
            return new CauseDescription("MORE REMOTE CALLS", service, additional(part, "call", sum), facts);
        }
        CauseDescription asUsual = MoreText.unchanged(
                unchanged, part, "MORE REMOTE CALLS", operations.placeOf(Phase.RPC, part.name()), facts);
        if (asUsual != null) {
            return asUsual;
        }
        if (excess.samples.areReadingResults(Phase.RPC)) {
            return new CauseDescription(
                    "LARGE ANSWERS",
                    service,
                    Change.of(
                            Where.CODE,
                            "use fewer or smaller objects in the arguments and the answer of " + service
                                    + ": this process spends most of the call on writing and reading them, so the"
                                    + " provider is not the cause"
                                    + Operations.at(operations.placeOf(Phase.RPC, part.name()))),
                    facts);
        }
        return new CauseDescription(
                "PEER",
                service,
                Change.of(
                        Where.PEER,
                        ask(part, outside.isEmpty() ? service : names(outside) + ", " + service) + lossy(part)
                                + DelayedAcks.hint(part, excess, operations)
                                + (counts.areNew(part)
                                        ? "; this remote call is unusual, so also find out why calls make it now"
                                        : counts.newIn(part))
                                + "; meanwhile " + meanwhile(part)
                                + Operations.at(operations.placeOf(Phase.RPC, part.name()))),
                facts);
    }

    private String ask(Part part, String service) {
        String of = service.startsWith(StackReader.CALLED) ? " " : " of ";
        String only = OperationNames.storeOfAll(part);
        if (only != null && operations.isSameForAll(Kind.RPC, only)) {
            return "check the network to " + service
                    + " (packets that are lost or late, a proxy), or read its diagnosis: each of its methods has"
                    + " become slower by about the same time";
        }
        return isSlowEverywhere(part)
                ? "read the diagnosis of the providers" + of + service
                        + ", which is slower at all of them: check what they share (a database, a peer), and the"
                        + " requests; if the providers are fast, the time is lost on the network to them (packets that"
                        + " are lost or late, a proxy)"
                : "read the diagnosis of the provider" + of + service
                        + "; if it is fast there, the time is lost on the network to it (packets that are lost or late,"
                        + " a proxy)";
    }

    /** Describes an HTTP peer or provider that answers none of its calls. */
    private CauseDescription silent(Part part, String peer, String place, List<String> facts) {
        String name = peer + ": " + Part.SILENT;
        String advice = silent.answersOthers(part)
                ? "read the diagnosis and the log of " + peer + ": its process answers other requests, so it runs, and"
                        + " something delays only these (a lock, a database, another peer)"
                : FailureText.ofPeer(name);
        Change change = Change.of(
                Where.PEER,
                advice + "; meanwhile use a fallback and a shorter timeout" + place
                        + ": a longer timeout would only let more calls wait");
        // A timeout ends unanswered operations, so their measured times say nothing about the peer.
        facts.removeIf(fact -> fact.contains(" per call, "));
        facts.add(silent.fact(part));
        return new CauseDescription("PEER FAILS", name, change, facts);
    }

    /** Returns whether the operation's timeout makes calls fail and is much longer than the operation's usual time. */
    private boolean timesOutLate(Part part, Phase phase) {
        double named = operations.usualNamed(phase, part.name());
        double usually = named > 0 ? named : operations.usualEach(phase);
        return usually > 0
                && timeOuts.failCalls(part)
                && operations.sum(phase, part.name()).eachNanos() >= HANGS * usually;
    }

    private String meanwhile(Part part) {
        if (timesOutLate(part, Phase.RPC)) {
            return NO_LONGER_TIMEOUT;
        }
        String limit = timeOuts.failCalls(part) ? timeOuts.limitOf(part) : "";
        return limit.isEmpty()
                ? isSlowEverywhere(part) ? "use a fallback" : "do not use a slow endpoint"
                : "use a fallback, or a longer timeout than " + limit + ", because calls fail at this timeout";
    }

    /**
     * Returns the service that all of the given remote methods belong to. The providers of this service are then a more
     * likely cause than the network. Returns null if the methods belong to several services.
     */
    private static @Nullable String onlyService(Set<String> operations) {
        Set<String> services = new HashSet<>();
        for (String operation : operations) {
            String method = OperationNames.method(operation);
            String named = method == null ? operation : method;
            services.add(named.substring(0, Math.max(0, named.lastIndexOf('.'))));
        }
        return services.size() == 1 ? services.iterator().next() : null;
    }

    /**
     * Returns text that compares the providers of a remote method; null if only one was called, or if none is slower.
     */
    private @Nullable String endpoints(String name) {
        String method = OperationNames.method(name);
        Set<String> all = providers.all(method == null ? name : method);
        Set<String> slower = providers.slower(method == null ? name : method);
        if (all.size() < 2 || slower.isEmpty()) {
            return null;
        }
        return method != null && slower.equals(Set.of(OperationNames.withoutStatus(name)))
                ? "only     this of " + all.size() + " endpoints"
                : "slower   " + slower.size() + " of " + all.size() + " endpoints";
    }

    /** Returns whether several providers offer the operation's remote method, and it became slower at all of them. */
    private boolean isSlowEverywhere(Part part) {
        Set<String> all = providers.all(part.name());
        return all.size() > 1 && providers.slower(part.name()).equals(all);
    }

    private List<String> network(Part part) {
        double share = evidence.machine().second() == null || OperationNames.isLoopback(part.name())
                ? -1
                : evidence.machine().second().retransmitShare();
        return share > LOSSY
                ? List.of(String.format(Locale.ROOT, "network  %.1f %% of the segments were sent again", share * 100))
                : List.of();
    }

    private String lossy(Part part) {
        return network(part).isEmpty() ? "" : ", or repair the network to it, which loses segments";
    }
}
