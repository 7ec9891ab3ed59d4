package tern.rpc.cluster;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Balancer;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.Outcome;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.transport.IdleConnection;

/**
 * An event-driven simulation, without threads and with seeded random numbers, of clients that call ten providers. Some
 * providers become faulty from second 5 to second 25. Service times are exponentially distributed with a mean of 10 ms.
 * The load is 60 %, and calls have a timeout of one second.
 */
final class ClusterModel {

    static final int PROVIDERS = 10;
    static final long ONE_MS = 1_000_000;
    static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    static final long BAD_FROM = 5 * SECOND;
    static final long BAD_UNTIL = 25 * SECOND;

    private static final double LOAD = 0.6;
    private static final double SERVICE_NANOS = 10e6;
    private static final long TIMEOUT_NANOS = SECOND;
    private static final long END = 31 * SECOND;
    private static final long RECONNECT_NANOS = 300 * ONE_MS;
    private static final long IDLE_NANOS = 60 * SECOND;

    /** How a faulty provider handles a call. */
    sealed interface Treatment {
        Treatment HANG = new Hang();

        static Treatment serve(double timesSlower) {
            return new Serve(timesSlower);
        }

        Treatment RESET = new Reset();

        static Treatment end(Outcome outcome) {
            return new End(outcome, true);
        }

        /** Fails the call immediately, without executing it. The client sends the call once to another provider. */
        static Treatment refuse() {
            return new End(Outcome.FAILED, false);
        }
    }

    /** The provider serves the call, but more slowly. */
    private record Serve(double timesSlower) implements Treatment {}

    /** The provider ends the call immediately, with the given outcome. */
    private record End(Outcome outcome, boolean executed) implements Treatment {}

    /** The provider resets the client's connection, with all calls on it. */
    private record Reset() implements Treatment {}

    /** The provider never answers the call. */
    private record Hang() implements Treatment {}

    /** The behaviour of a faulty provider. */
    interface Fault {
        Treatment of(Call call, long now);

        /** Returns whether the provider answers pings, even if it does not answer calls. */
        default boolean answersPings() {
            return true;
        }

        /** Returns whether the fault exists at the given time. */
        default boolean isNow(long now) {
            return now >= BAD_FROM && now < BAD_UNTIL;
        }
    }

    /** A client's call, or a copy of a call that is sent as a probe. */
    static final class Call {
        final int number;
        final int client;
        final String method;
        final Target target;
        final long sent;
        final boolean copy;
        private final boolean again; // True if the call has been sent before.
        private boolean ended;

        Call(int number, int client, String method, Target target, long sent, boolean copy, boolean again) {
            this.again = again;
            this.number = number;
            this.client = client;
            this.method = method;
            this.target = target;
            this.sent = sent;
            this.copy = copy;
        }

        int provider() {
            return target.endpoint().port() - 1;
        }
    }

    /** The calls in one run, without the copies that are sent as probes. */
    static final class Counts {
        int calls; // The number of calls during the fault.
        int failed;
        int bad; // The number of calls to faulty providers during the fault, excluding its first second.
        int badSecond; // The number of calls to all providers during the fault, excluding its first second.
        int atLast; // The number of calls in the last second of the run, 5 s after the end of the fault.
        int atLastOfBad;
        int inFifth; // The number of calls in the fifth second after the end of the fault.
        int inFifthOfBad;
        long ejections;
        // For each method, the number of calls to each provider during the fault.
        final Map<String, int[]> byMethod = new HashMap<>();
        // The response times of calls that start at least three seconds after the fault begins.
        final List<Long> late = new ArrayList<>();
        final int[] failedOfClient;
        final int[] failedInSecond = new int[20]; // Failed calls, by the second in which they began.

        Counts(int clients) {
            failedOfClient = new int[clients];
        }

        double failedPercent() {
            return 100.0 * failed / calls;
        }

        double sharePercent() {
            return 100.0 * bad / badSecond;
        }

        /**
         * Returns the percentage of failed calls, excluding failures of calls that started in the first three seconds
         * of the fault.
         */
        double lateFailedPercent() {
            int lateFailed = Arrays.stream(failedInSecond).skip(3).sum();
            return 100.0 * lateFailed / calls;
        }

        /**
         * Returns the percentage of calls that the faulty providers get in the fifth second after the end of the fault.
         */
        double fifthPercent() {
            return 100.0 * inFifthOfBad / inFifth;
        }

        double curedPercent() {
            return 100.0 * atLastOfBad / atLast;
        }

        double p99Millis() {
            long[] sorted = late.stream().mapToLong(Long::longValue).sorted().toArray();
            return sorted[(int) (0.99 * sorted.length)] / 1e6;
        }

        int mostOfAClient() {
            return Arrays.stream(failedOfClient).max().orElse(0);
        }

        double sharePercent(String method, int provider) {
            int[] counts = byMethod.getOrDefault(method, new int[PROVIDERS]);
            return 100.0 * counts[provider] / Math.max(1, Arrays.stream(counts).sum());
        }
    }

    private record Event(long at, long order, Runnable action) implements Comparable<Event> {
        @Override
        public int compareTo(Event other) {
            return at == other.at ? Long.compare(order, other.order) : Long.compare(at, other.at);
        }
    }

    /** A client's connection to one provider. */
    private final class Link extends IdleConnection {
        private final int client;
        private final List<Call> open = new ArrayList<>();
        private long heard = Long.MIN_VALUE / 2;
        private long times = 1;

        Link(Endpoint endpoint, int client) {
            super(endpoint);
            this.client = client;
        }

        @Override
        public long timesAvailable() {
            return times;
        }

        void reset() {
            if (!available) {
                return;
            }
            available = false;
            List.copyOf(open).forEach(call -> end(call, Outcome.FAILED, true));
            at(now + RECONNECT_NANOS, () -> {
                times++;
                available = true;
            });
        }

        @Override
        public boolean isHeardAfter(long nanos) {
            return heard > nanos;
        }

        @Override
        public void probe() {
            Fault fault = fault(endpoint.port() - 1);
            boolean isFrozen = fault != null && !fault.answersPings();
            at((isFrozen ? Math.max(now, BAD_UNTIL) : now) + ONE_MS, () -> heard = clock(client));
        }
    }

    private final PriorityQueue<Event> events = new PriorityQueue<>();
    // in the order of the deadlines: all calls have the same timeout, so the queue needs no sorting
    private final Queue<Event> timeouts = new ArrayDeque<>();
    private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(0); // This timer runs no tasks.
    private final Random random;
    private final int workers;
    private final Map<Integer, Fault> faults = new HashMap<>();
    private final List<Queue<Call>> waiting = new ArrayList<>();
    private final int[] busy = new int[PROVIDERS];
    private final List<Cluster> clusters = new ArrayList<>();
    private final List<NodeCounts> ejections = new ArrayList<>();
    private final List<Map<String, UsualTime>> usual = new ArrayList<>();
    private final Counts counts;
    private String policy = Policies.P2C;
    private double idempotentShare;
    private boolean halfIdle;
    private int providers = PROVIDERS;
    private Map<String, Double> methods = Map.of("get", 1.0); // The mean service times of the methods.
    private List<String> names = List.of();
    private double callsPerSecond;
    private long now;
    private long orders;
    private int calls;

    /** @param workers the number of calls that a provider can serve at the same time */
    ClusterModel(int clients, int workers, long seed) {
        this.workers = workers;
        this.random = new Random(seed);
        this.counts = new Counts(clients);
    }

    ClusterModel policy(String name) {
        policy = name;
        return this;
    }

    /** @param share the share of idempotent calls, whose copies can be sent as probes */
    ClusterModel idempotent(double share) {
        idempotentShare = share;
        return this;
    }

    /** Makes every second client idle for a minute before the fault. */
    ClusterModel halfIdle() {
        halfIdle = true;
        return this;
    }

    /**
     * @param timesLonger the mean service time of each method in units of 10 ms, by method name; clients call all
     *     methods equally often
     */
    ClusterModel methods(Map<String, Double> timesLonger) {
        methods = timesLonger;
        return this;
    }

    /** @param count the number of providers, at most {@value #PROVIDERS} */
    ClusterModel providers(int count) {
        providers = count;
        return this;
    }

    ClusterModel fault(int provider, Fault fault) {
        faults.put(provider, fault);
        return this;
    }

    private void at(long time, Runnable action) {
        events.add(new Event(time, orders++, action));
    }

    private Event next() {
        Event event = events.peek();
        Event timeout = timeouts.peek();
        return timeout == null || (event != null && event.compareTo(timeout) < 0) ? events.remove() : timeouts.remove();
    }

    private boolean isIdle(int client) {
        return halfIdle && client % 2 == 1;
    }

    /** Returns the time on the client's clock. */
    private long clock(int client) {
        return isIdle(client) && now >= BAD_FROM ? now + IDLE_NANOS : now;
    }

    private @Nullable Fault fault(int provider) {
        Fault fault = faults.get(provider);
        return fault != null && fault.isNow(now) ? fault : null;
    }

    Counts run() {
        List<Endpoint> endpoints = new ArrayList<>();
        for (int i = 0; i < providers; i++) {
            endpoints.add(new Endpoint("10.0.0." + i, i + 1));
            waiting.add(new ArrayDeque<>());
        }
        for (int i = 0; i < counts.failedOfClient.length; i++) {
            int client = i;
            ClusterParts parts = new ClusterParts(() -> clock(client), timer, i);
            Cluster cluster = parts.cluster(
                    "a service",
                    List.of(),
                    "fake",
                    new StaticEndpoints(endpoints),
                    parts.nodes(endpoint -> new Link(endpoint, client)),
                    ClusterSettings.DEFAULT.withPolicy(seeded()));
            cluster.start(Duration.ZERO);
            clusters.add(cluster);
            ejections.add(parts.counts());
            usual.add(new HashMap<>());
        }
        timer.shutdownNow();
        names = methods.keySet().stream().sorted().toList();
        double mean = methods.values().stream()
                .mapToDouble(Double::doubleValue)
                .average()
                .orElse(1);
        callsPerSecond = LOAD * providers * workers * 100 / mean;
        at(0, this::arrive);
        while (now < END) {
            Event next = next();
            now = next.at();
            next.action().run();
        }
        ejections.forEach(client -> counts.ejections += client.ejections());
        return counts;
    }

    private Balancer.Factory seeded() {
        return policy.equals(Policies.P2C)
                ? candidates -> new PowerOfTwoChoices(candidates, () -> random)
                : Policies.named(policy);
    }

    private void arrive() {
        at(now + (long) (-Math.log(1 - random.nextDouble()) * 1e9 / callsPerSecond), this::arrive);
        int client = random.nextInt(clusters.size());
        if (isIdle(client) && now >= SECOND && now < BAD_FROM) {
            client--;
        }
        String method = names.get(random.nextInt(names.size()));
        Cluster cluster = clusters.get(client);
        Target target = cluster.pick(method, 0, "", false, null, clock(client));
        int number = calls++;
        send(new Call(number, client, method, target, now, false, false));
        boolean isIdempotent = random.nextDouble() < idempotentShare;
        Target probed = isIdempotent ? cluster.takeProbe(method, "", false, clock(client)) : null;
        if (probed != null && probed != target) {
            send(new Call(number, client, method, probed, now, true, false));
        }
    }

    private void send(Call call) {
        if (call.copy) {
            call.target.node().beginCopy();
        } else {
            call.target.node().begin(clock(call.client));
            if (!call.again) {
                count(call);
            }
        }
        Link link = (Link) call.target.connection();
        if (!link.available) {
            at(now, () -> end(call, Outcome.FAILED, false));
            return;
        }
        link.open.add(call);
        Fault fault = fault(call.provider());
        Treatment treatment = fault == null ? Treatment.serve(1) : fault.of(call, now);
        if (treatment instanceof End end) {
            at(now + ONE_MS / 10, () -> end(call, end.outcome(), end.executed()));
            return;
        }
        if (treatment == Treatment.RESET) {
            at(now + ONE_MS, link::reset);
            return;
        }
        if (call.copy) {
            at(now + ProbePauses.WAIT_NANOS, () -> end(call, Outcome.FAILED, true));
        } else {
            timeouts.add(new Event(now + TIMEOUT_NANOS, orders++, () -> end(call, Outcome.FAILED, true)));
        }
        if (treatment instanceof Serve) {
            waiting.get(call.provider()).add(call);
            work(call.provider());
        }
    }

    private void count(Call call) {
        boolean isBad = faults.containsKey(call.provider());
        if (now >= BAD_FROM && now < BAD_UNTIL) {
            counts.calls++;
            counts.byMethod.computeIfAbsent(call.method, unseen -> new int[PROVIDERS])[call.provider()]++;
        }
        if (now >= BAD_FROM + SECOND && now < BAD_UNTIL) {
            counts.badSecond++;
            counts.bad += isBad ? 1 : 0;
        }
        if (now >= BAD_UNTIL + 4 * SECOND && now < BAD_UNTIL + 5 * SECOND) {
            counts.inFifth++;
            counts.inFifthOfBad += isBad ? 1 : 0;
        }
        if (now >= BAD_UNTIL + 5 * SECOND) {
            counts.atLast++;
            counts.atLastOfBad += isBad ? 1 : 0;
        }
    }

    private void work(int provider) {
        while (busy[provider] < workers) {
            Call next = waiting.get(provider).poll();
            if (next == null) {
                return;
            }
            Fault fault = fault(provider);
            if (fault != null && fault.of(next, now) == Treatment.HANG) {
                continue;
            }
            double factor = fault != null && fault.of(next, now) instanceof Serve serve ? serve.timesSlower() : 1;
            double mean = SERVICE_NANOS * methods.getOrDefault(next.method, 1.0) * factor;
            busy[provider]++;
            at(now + (long) (-Math.log(1 - random.nextDouble()) * mean), () -> {
                busy[provider]--;
                answered(next);
                work(provider);
            });
        }
    }

    private void answered(Call call) {
        Fault fault = fault(call.provider());
        if (fault != null && fault.of(call, now) == Treatment.HANG) {
            return;
        }
        Link link = (Link) call.target.connection();
        link.heard = link.open.contains(call) ? clock(call.client) : link.heard;
        end(call, Outcome.ANSWERED, true);
    }

    private void end(Call call, Outcome outcome, boolean executed) {
        if (call.ended) {
            return;
        }
        call.ended = true;
        ((Link) call.target.connection()).open.remove(call);
        long time = clock(call.client);
        UsualTime times = usual.get(call.client).computeIfAbsent(call.method, unseen -> new UsualTime());
        if (call.copy) {
            call.target.node().endCopy(outcome, now - call.sent, TIMEOUT_NANOS, time, times);
            return;
        }
        call.target.node().end(outcome, executed, now - call.sent, time, times);
        if (outcome == Outcome.FAILED && !executed && !call.again) {
            Target other = clusters.get(call.client).pick(call.method, 0, "", false, call.target, time);
            send(new Call(call.number, call.client, call.method, other, now, false, true));
            return;
        }
        if (call.sent < BAD_FROM || call.sent >= BAD_UNTIL) {
            return;
        }
        if (outcome != Outcome.ANSWERED) {
            counts.failed++;
            counts.failedOfClient[call.client]++;
            counts.failedInSecond[(int) ((call.sent - BAD_FROM) / SECOND)]++;
        } else if (call.sent >= BAD_FROM + 3 * SECOND) {
            counts.late.add(now - call.sent);
        }
    }
}
