package tern.rpc.diagnosis.rule;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.excess.TimesByCause;
import tern.rpc.diagnosis.failure.FailureText;
import tern.rpc.diagnosis.sample.SampledCall;

/**
 * Creates the cause descriptions for HTTP exchanges that take a long time because calls open connections, or because
 * calls wait for a connection from a client that Tern does not measure. Both reasons are found in the samples of the
 * calls' threads.
 */
public final class HttpConnections {

    /**
     * HTTP connections are reported as the cause of slow exchanges only if at least {@value} samples show calls waiting
     * for a connection, or at least {@value} calls opened one.
     */
    private static final int MIN_WAITS = 3;

    /**
     * Unclosed responses are assumed to hold the connections only if there are at least {@value} samples and all of
     * them show calls waiting for a connection. The sampler prefers the calls that have run longest. If running calls
     * used the connections, some samples would show these calls.
     */
    private static final int MIN_LEAKING = 20;

    /**
     * New HTTP clients can be the cause only if the process creates at least {@value} clients per late or failed call.
     */
    private static final double MANY_CLIENTS = 0.3;

    private static final double MIN_CLIENTS = 1; // per second

    /** A peer counts as slow if an exchange keeps its connection for at least {@value} times the usual time. */
    private static final double SLOWER = 1.5;

    private static final double WIDE_NANOS = 10e6;

    /** The maximum time that a client needs to open a connection if the peer accepts connections. */
    private static final long SLOW_CONNECT_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Evidence evidence;
    private final ExcessTime excess;

    public HttpConnections(Evidence evidence, ExcessTime excess) {
        this.evidence = evidence;
        this.excess = excess;
    }

    /**
     * The reason why HTTP exchanges take a long time.
     *
     * @param facts the evidence, one fact per short line
     */
    public record Found(String kind, String name, Change change, List<String> facts) {}

    /**
     * The numbers of samples taken during HTTP exchanges.
     *
     * @param all the number of samples
     * @param waits the number of samples in which the call waited for a connection
     * @param connects the number of samples in which the call opened a connection
     * @param connectingCalls the number of calls that opened a connection
     * @param slowlyConnectingCalls the number of calls that took a long time to open one
     * @param jdk the number of samples in which the call used the JDK's HTTP client
     */
    private record Looks(int all, int waits, int connects, int connectingCalls, int slowlyConnectingCalls, int jdk) {}

    /**
     * Returns the cause's text if the connections explain how long the given exchange takes; null otherwise.
     *
     * @param host the name of the exchange
     * @param place the code that runs it, preceded by {@code " in "}; empty if unknown
     * @param eachNanos the mean time of the exchange, including the wait for a connection
     * @param usualNanos the usual time of the exchange; -1 if unknown
     */
    @Nullable
    public Found of(Part part, String host, String place, double eachNanos, double usualNanos) {
        Looks looks = looks(part);
        if (isMostlyWaiting(looks)) {
            double used = eachNanos * (looks.all - looks.waits) / looks.all;
            if (usualNanos > 0 && used >= SLOWER * usualNanos && used - usualNanos >= WIDE_NANOS) {
                return slowPeer(host, place, used, usualNanos);
            }
            Change change = Change.of(Where.CODE, waiting(looks, host, place, ended(part)));
            return new Found("HTTP CONNECTIONS", host, change, List.of());
        }
        double clients = evidence.tasks().clients().perSecond();
        double badPerSecond = evidence.calls().bad() / evidence.seconds();
        boolean isOfJdk = looks.jdk > 0 && 2 * looks.jdk >= looks.all;
        if (isOfJdk && clients >= MIN_CLIENTS && clients >= MANY_CLIENTS * badPerSecond) {
            return newClients(host, place, clients);
        }
        if (looks.connectingCalls < MIN_WAITS || 3 * looks.connects < looks.all) {
            return null;
        }
        List<String> facts = new ArrayList<>();
        facts.add("samples  " + looks.connects + " of " + looks.all + " found a thread that opens a connection");
        if (2 * looks.slowlyConnectingCalls >= looks.connectingCalls) {
            facts.add("opens    " + looks.slowlyConnectingCalls + " calls were opening a connection for more than 1 s");
            String name = host + ": " + Part.NOT_ACCEPTED;
            return new Found("PEER FAILS", name, Change.of(Where.PEER, FailureText.ofPeer(name) + place), facts);
        }
        return new Found(
                "HTTP CONNECTIONS",
                host,
                Change.of(
                        Where.CODE,
                        "keep connections open and use one client for all calls: many calls open a new connection to "
                                + host + place
                                + "; if the client already keeps them, find out why the peer accepts connections"
                                + " slowly or closes them"),
                facts);
    }

    /**
     * Describes a peer whose slow answers keep the connections in use. More connections would only add load to the
     * peer.
     */
    private static Found slowPeer(String host, String place, double used, double usually) {
        return new Found(
                "SLOW HTTP PEER",
                host,
                Change.of(
                        Where.PEER,
                        "find out why " + host + " is slow: read its own log or diagnosis; an exchange keeps its"
                                + " connection for about " + Times.millis(used) + " ms, usually "
                                + Times.millis(usually) + " ms, so calls wait for the connections of the client;"
                                + " meanwhile use a shorter response timeout or a fallback" + place),
                List.of());
    }

    private static Found newClients(String host, String place, double perSecond) {
        String count = String.format(Locale.ROOT, "%.0f", perSecond);
        return new Found(
                "HTTP CONNECTIONS",
                host,
                Change.of(
                        Where.CODE,
                        "create the java.net.http.HttpClient once and keep it, or the client of Spring that uses it: "
                                + count + " new clients are created each second, and each one opens new connections to "
                                + host + place),
                List.of("clients  " + count + " new ones a second (threads HttpClient-*-SelectorManager)"));
    }

    /**
     * Merges exchanges with one peer that wait for connections of a client that Tern does not measure. These exchanges
     * wait for the same connections, so they are one cause.
     */
    void merge(TimesByCause byCause) {
        Map<String, List<Part>> byPeer = new TreeMap<>();
        for (Part part : byCause.only(part -> part.kind() == Part.Kind.HTTP).longestFirst()) {
            String peer = OperationNames.storeOfAll(part) == null ? OperationNames.store(part.name()) : "";
            if (!peer.isEmpty() && isMostlyWaiting(looks(part))) {
                byPeer.computeIfAbsent(peer, name -> new ArrayList<>()).add(part);
            }
        }
        byPeer.values().removeIf(parts -> parts.size() < 2);
        byPeer.forEach((peer, parts) ->
                parts.forEach(part -> byCause.move(part, new Part(Part.Kind.HTTP, OperationNames.ALL + peer))));
    }

    private static boolean isMostlyWaiting(Looks looks) {
        return looks.waits >= MIN_WAITS && 2 * looks.waits > looks.all;
    }

    /** @param ended the number of late or failed calls in which the exchange has ended */
    private static String waiting(Looks looks, String host, String place, long ended) {
        if (looks.waits == looks.all && looks.all >= MIN_LEAKING && ended < MIN_WAITS) {
            return "close each response of the application's own HTTP client, also if code fails (try-with-resources,"
                    + " EntityUtils.consume)" + place + ": " + looks.all + " samples found calls waiting for one of its"
                    + " connections, for " + host
                    + ", but no call that used one, so they are not given back; more connections do not help for long";
        }
        return "allow more connections per route in the application's own HTTP client (Apache's default is 5): most"
                + " samples found calls waiting for one of its connections, for " + host + place;
    }

    /**
     * Returns the number of late or failed calls in which the given exchange has ended without a failure. These
     * exchanges got a connection, so earlier exchanges must have returned their connections. Samples alone do not show
     * this, because they seldom find an exchange that is much shorter than the wait for its connection.
     */
    private long ended(Part part) {
        Predicate<Part> matching = Operations.only(part);
        return excess.accounts.stream()
                .filter(counted -> counted.call().ledger().named().stream()
                        .anyMatch(entry -> entry.kind() == Phase.HTTP
                                && entry.count() > 0
                                && matching.test(new Part(Part.Kind.HTTP, entry.name()))))
                .count();
    }

    private Looks looks(Part part) {
        Predicate<Part> matching = Operations.only(part);
        int all = 0;
        int waits = 0;
        int connects = 0;
        int calls = 0;
        int slow = 0;
        int jdk = 0;
        for (ExcessTime.Counted counted : excess.accounts) {
            SampledCall samples = evidence.samples().get(counted.call().ledger());
            if (samples != null && counted.times().sum(matching) > 0) {
                all += samples.httpLooks;
                waits += samples.httpWaits;
                jdk += samples.httpJdkLooks;
                connects += samples.httpConnects;
                calls += samples.httpConnects > 0 ? 1 : 0;
                slow += samples.longestConnect > SLOW_CONNECT_NANOS ? 1 : 0;
            }
        }
        return new Looks(all, waits, connects, calls, slow, jdk);
    }
}
