package tern.rpc.diagnosis.remedy;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.PriorityQueue;
import tern.rpc.diagnosis.account.CallTrace;

/**
 * Replays calls through a queue of workers and a pool of connections. A call waits for a worker, works, waits for a
 * connection, works again, and releases both. The call holds the connection for the mean time of use multiplied by the
 * number of connections that the call borrowed. Waiting calls get workers and connections in the order of their
 * requests. If calls were already waiting at the beginning, the calls are replayed twice, and only the second pass is
 * measured.
 */
final class ReplayModel {

    /** The value for an unlimited number of workers or connections. */
    static final int UNLIMITED = Integer.MAX_VALUE;

    /** The model counts as unreliable if a replay deviates from the measured time by more than {@value} of it. */
    private static final double TOLERANCE = 0.3;

    private static final double P99 = 0.99;
    private static final int MIN_CALLS = 50;

    private final List<CallTrace.Call> measured;
    private final List<CallTrace.Call> calls; // all replayed calls, including an unmeasured first pass
    private final int kind;
    private final double useNanos;
    private final long waitLimitNanos;

    /**
     * @param calls the calls in the order of their arrival
     * @param kind the index of the pool in {@link CallTrace.Call#uses}
     * @param useNanos the mean time that a connection is held
     * @param waitLimitNanos the maximum wait for a connection, after which a call fails; negative for no limit
     * @param withBacklog whether earlier calls were still waiting when the first of these calls arrived
     */
    ReplayModel(List<CallTrace.Call> calls, int kind, double useNanos, long waitLimitNanos, boolean withBacklog) {
        this.measured = List.copyOf(calls);
        this.calls = withBacklog ? twice(calls) : measured;
        this.kind = kind;
        this.useNanos = useNanos;
        this.waitLimitNanos = waitLimitNanos;
    }

    private static List<CallTrace.Call> twice(List<CallTrace.Call> calls) {
        List<CallTrace.Call> all = new ArrayList<>(calls);
        if (calls.size() > 1) {
            long span = calls.get(calls.size() - 1).startNanos() - calls.get(0).startNanos();
            long shift = span + span / (calls.size() - 1);
            for (CallTrace.Call call : calls) {
                all.add(new CallTrace.Call(
                        call.startNanos() + shift, call.tookNanos(), call.queueNanos(), call.waitNanos(), call.uses()));
            }
        }
        return all;
    }

    /**
     * The result of a replay.
     *
     * @param p99Nanos the 99th percentile of the calls' times
     * @param meanNanos the mean of the calls' times
     * @param failed the share of calls that failed because they waited too long for a connection
     */
    record Outcome(double p99Nanos, double meanNanos, double failed) {}

    /**
     * Returns whether a replay reproduces the measured times closely enough.
     *
     * @param workers the number of workers during the measurement
     * @param places the number of connections of the pool during the measurement
     */
    boolean isReliable(int workers, int places) {
        if (measured.size() < MIN_CALLS) {
            return false;
        }
        long[] times = measured.stream().mapToLong(CallTrace.Call::tookNanos).toArray();
        double real = p99(times);
        return Math.abs(replay(workers, places).p99Nanos() - real) <= TOLERANCE * real;
    }

    /** Replays the calls with the given numbers of workers and connections. */
    Outcome replay(int workers, int places) {
        return new Run(workers, places).outcome();
    }

    private static double p99(long[] times) {
        long[] sorted = times.clone();
        Arrays.sort(sorted);
        return sorted.length == 0 ? 0 : sorted[(int) Math.min(sorted.length - 1, Math.floor(P99 * sorted.length))];
    }

    /** The steps of a call, in order. */
    private enum Step {
        ARRIVES,
        WANTS_CONNECTION,
        RETURNS_CONNECTION,
        ENDS
    }

    private record Event(double at, int call, Step step, long order) {}

    private final class Run {
        private final PriorityQueue<Event> events =
                new PriorityQueue<>(Comparator.comparingDouble(Event::at).thenComparingLong(Event::order));
        private final Deque<Integer> forWorker = new ArrayDeque<>();
        private final Deque<Integer> forConnection = new ArrayDeque<>();
        private final double[] asked = new double[calls.size()]; // the time when each call requested a connection
        private final long[] elapsedNanos = new long[calls.size()];
        private int workers;
        private int places;
        private int failed;
        private long order;

        Run(int workers, int places) {
            this.workers = workers;
            this.places = places;
            for (int i = 0; i < calls.size(); i++) {
                add((double) calls.get(i).startNanos(), i, Step.ARRIVES);
            }
        }

        private void add(double at, int call, Step step) {
            events.add(new Event(at, call, step, order++));
        }

        Outcome outcome() {
            for (Event event = events.poll(); event != null; event = events.poll()) {
                step(event);
            }
            long[] last = Arrays.copyOfRange(elapsedNanos, elapsedNanos.length - measured.size(), elapsedNanos.length);
            double mean = Arrays.stream(last).average().orElse(0);
            return new Outcome(p99(last), mean, calls.isEmpty() ? 0 : (double) failed / calls.size());
        }

        private void step(Event event) {
            switch (event.step()) {
                case ARRIVES -> {
                    forWorker.add(event.call());
                    giveWorkers(event.at());
                }
                case WANTS_CONNECTION -> {
                    asked[event.call()] = event.at();
                    forConnection.add(event.call());
                    giveConnections(event.at());
                }
                case RETURNS_CONNECTION -> {
                    places++;
                    add(event.at() + work(event.call()) / 2, event.call(), Step.ENDS);
                    giveConnections(event.at());
                }
                case ENDS -> end(event.call(), event.at());
            }
        }

        private void giveWorkers(double now) {
            while (workers > 0 && !forWorker.isEmpty()) {
                int call = forWorker.remove();
                workers--;
                boolean borrows = calls.get(call).uses()[kind] > 0;
                add(now + (borrows ? work(call) / 2 : work(call)), call, borrows ? Step.WANTS_CONNECTION : Step.ENDS);
            }
        }

        private void giveConnections(double now) {
            while (!forConnection.isEmpty()) {
                int call = forConnection.element();
                if (waitLimitNanos >= 0 && now - asked[call] > waitLimitNanos) {
                    forConnection.remove();
                    failed++;
                    end(call, asked[call] + waitLimitNanos);
                } else if (places > 0) {
                    forConnection.remove();
                    places--;
                    add(now + use(call), call, Step.RETURNS_CONNECTION);
                } else {
                    return;
                }
            }
        }

        private double use(int call) {
            return Math.min(
                    (double) calls.get(call).serviceNanos(), calls.get(call).uses()[kind] * useNanos);
        }

        /** Returns how long a call works without holding a connection. */
        private double work(int call) {
            double all = calls.get(call).serviceNanos();
            return calls.get(call).uses()[kind] > 0 ? all - use(call) : all;
        }

        private void end(int call, double at) {
            elapsedNanos[call] = (long) (at - calls.get(call).startNanos());
            workers++;
            giveWorkers(at);
        }
    }
}
