package tern.rpc.limit;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Simulates a server with threads and a bounded queue. Each call first uses CPU time, which running calls share, and
 * then waits for something else. The simulation advances in steps of 0.25 ms and does not use the real clock. Calls
 * arrive at random times, with a fixed seed.
 */
final class SimulatedServer {

    private static final long STEP = TimeUnit.MICROSECONDS.toNanos(250);
    private static final int THREADS = 200;
    private static final int QUEUE = 400;
    private static final long MAX_QUEUE_WAIT = TimeUnit.MILLISECONDS.toNanos(50);
    private static final int PROCESSORS = 2;

    private final Random random = new Random(20_261_122);
    private final Limiter limiter;
    private final List<Caller> callers = new ArrayList<>();
    private final Deque<Call> queue = new ArrayDeque<>();
    private final List<Call> running = new ArrayList<>();
    private long now;
    private double cpuNanos;
    private double elsewhereNanos;
    private long deadlineNanos = TimeUnit.SECONDS.toNanos(3);

    /** A caller with its own connection. For the limiter, each caller is a tenant with its own {@link Share}. */
    final class Caller {

        private final Share share = new Share("a caller");
        private double perSecond;
        private double next;
        private Counts counts = new Counts();

        void calls(double perSecondNow) {
            perSecond = perSecondNow;
            next = now + pause();
        }

        private double pause() {
            return perSecond == 0 ? Double.MAX_VALUE : -Math.log(1 - random.nextDouble()) * 1e9 / perSecond;
        }

        Counts counts() {
            return counts;
        }
    }

    /** The results of all calls in a period. */
    static final class Counts {

        private int sent;
        private int answered; // The number of calls answered before their deadline.
        private int refused;
        private final List<Long> nanos = new ArrayList<>();

        int sent() {
            return sent;
        }

        int answered() {
            return answered;
        }

        int refused() {
            return refused;
        }

        double meanMillis() {
            return nanos.stream().mapToLong(Long::longValue).average().orElse(Double.NaN) / 1e6;
        }

        List<Long> nanos() {
            return nanos;
        }
    }

    private static final class Call {

        private final Caller caller;
        private final long entered;
        private double cpuLeft;
        private double elsewhereLeft;

        Call(Caller caller, long entered, double cpuLeft, double elsewhereLeft) {
            this.caller = caller;
            this.entered = entered;
            this.cpuLeft = cpuLeft;
            this.elsewhereLeft = elsewhereLeft;
        }
    }

    SimulatedServer() {
        this(new GradientLimit(PROCESSORS + 10, THREADS + QUEUE));
    }

    SimulatedServer(Limit limit) {
        this.limiter = new Limiter(limit, THREADS, () -> now);
    }

    Limiter limiter() {
        return limiter;
    }

    Caller caller(double perSecond) {
        Caller caller = new Caller();
        caller.calls(perSecond);
        callers.add(caller);
        return caller;
    }

    /**
     * Sets the costs of subsequent calls. The CPU time of a call is exponentially distributed with the given mean. The
     * waiting time is the same for all calls.
     */
    SimulatedServer calls(double cpuMillis, double elsewhereMillis) {
        cpuNanos = cpuMillis * 1e6;
        elsewhereNanos = elsewhereMillis * 1e6;
        return this;
    }

    /** Sets the timeout of calls. A call that is answered after its timeout does not count as answered. */
    SimulatedServer deadline(long millis) {
        deadlineNanos = TimeUnit.MILLISECONDS.toNanos(millis);
        return this;
    }

    /**
     * Makes the given number of calls at the same time.
     *
     * @return the number of refused calls
     */
    int burst(Caller caller, int calls) {
        int refused = caller.counts.refused;
        for (int i = 0; i < calls; i++) {
            arrive(caller);
        }
        return caller.counts.refused - refused;
    }

    /** Simulates the given period, and then resets the counts. */
    void runUncounted(double seconds) {
        run(seconds);
        callers.forEach(caller -> caller.counts = new Counts());
    }

    void run(double seconds) {
        long end = now + (long) (seconds * 1e9);
        while (now < end) {
            now += STEP;
            for (Caller caller : callers) {
                while (caller.next <= now) {
                    caller.next += caller.pause();
                    arrive(caller);
                }
            }
            refuseThoseWhoWaitedTooLong();
            start();
            work();
        }
    }

    private void arrive(Caller caller) {
        caller.counts.sent++;
        if (limiter.enter(caller.share, now) != null) {
            caller.counts.refused++;
            return;
        }
        double cpu = -Math.log(1 - random.nextDouble()) * cpuNanos;
        queue.add(new Call(caller, now, cpu, elsewhereNanos));
    }

    private void refuseThoseWhoWaitedTooLong() {
        while (running.size() == THREADS && isOld(queue.peek())) {
            Call call = queue.remove();
            call.caller.counts.refused++;
            limiter.leaveUnserved(call.caller.share, call.entered);
        }
    }

    private boolean isOld(@Nullable Call call) {
        return call != null && now - call.entered > MAX_QUEUE_WAIT;
    }

    private void start() {
        while (running.size() < THREADS && !queue.isEmpty()) {
            running.add(queue.remove());
        }
    }

    private void work() {
        long busy = running.stream().filter(call -> call.cpuLeft > 0).count();
        double share = busy == 0 ? 0 : STEP * Math.min(1, (double) PROCESSORS / busy);
        for (Iterator<Call> all = running.iterator(); all.hasNext(); ) {
            Call call = all.next();
            if (call.cpuLeft > 0) {
                call.cpuLeft -= share;
            } else {
                call.elsewhereLeft -= STEP;
            }
            if (call.cpuLeft <= 0 && call.elsewhereLeft <= 0) {
                all.remove();
                end(call);
            }
        }
    }

    private void end(Call call) {
        limiter.leave(call.caller.share, call.entered, now);
        if (now - call.entered <= deadlineNanos) {
            call.caller.counts.answered++;
            call.caller.counts.nanos.add(now - call.entered);
        }
    }
}
