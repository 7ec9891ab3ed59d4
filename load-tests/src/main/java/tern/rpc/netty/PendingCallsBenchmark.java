package tern.rpc.netty;

import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.transport.PendingCall;
import tern.sample.api.UserService;

/**
 * Measures the cost of finding a waiting call by its id, and of ending a call at its deadline. Compares Tern's data
 * structures with data structures of the JDK and Netty. Each of the two threads has 128 open calls. One operation adds
 * a call and answers the oldest call.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Threads(2)
public class PendingCallsBenchmark {

    private static final int CALLS = 1_024;
    private static final int UNDER_WAY = 128;
    private static final long TIMEOUT_SECONDS = 60;

    private final Invocation call = call();
    private final PendingCalls table = new PendingCalls(CALLS);
    private final ConcurrentMap<Long, PendingCall> map = new ConcurrentHashMap<>();
    private final AtomicLong ids = new AtomicLong();
    private final HashedWheelTimer wheel = new HashedWheelTimer(10, TimeUnit.MILLISECONDS);
    private final ScheduledThreadPoolExecutor scheduler = scheduler();

    private static Invocation call() {
        ServiceDescriptor service = ServiceDescriptor.of(UserService.class);
        return new Invocation(
                new ServiceKey(service.name(), "", ""),
                service.overloads("existUser").get(0),
                new Object[] {"1236"},
                new Metadata(),
                Deadline.at(System.nanoTime() + TimeUnit.DAYS.toNanos(1)),
                Runnable::run);
    }

    private static ScheduledThreadPoolExecutor scheduler() {
        ScheduledThreadPoolExecutor made = new ScheduledThreadPoolExecutor(1);
        made.setRemoveOnCancelPolicy(true);
        return made;
    }

    @TearDown
    public void stop() {
        wheel.stop();
        scheduler.shutdownNow();
    }

    private PendingCall pending() {
        return new PendingCall(call, false, 0, null);
    }

    /** The open calls from one thread: the call ids, and the timers that end the calls at their deadlines. */
    @State(Scope.Thread)
    public static class UnderWay {

        private final long[] ids = new long[UNDER_WAY];
        private final @Nullable Object[] timeouts = new Object[UNDER_WAY];
        private int next;

        private int turn() {
            next = (next + 1) % UNDER_WAY;
            return next;
        }
    }

    /**
     * Measures Tern's variant. Each call has a slot in a table, and the entry in this slot contains the deadline. One
     * sweep checks the deadlines of all calls.
     */
    @Benchmark
    public @Nullable PendingCall slotAndSweep(UnderWay calls) {
        int turn = calls.turn();
        PendingCall answered = table.remove(calls.ids[turn]);
        PendingCall pending = pending();
        table.add(pending);
        calls.ids[turn] = pending.id();
        return answered;
    }

    @Benchmark
    public @Nullable PendingCall hashMap(UnderWay calls) {
        int turn = calls.turn();
        PendingCall answered = map.remove(calls.ids[turn]);
        long id = ids.incrementAndGet();
        map.put(id, pending());
        calls.ids[turn] = id;
        return answered;
    }

    @Benchmark
    public @Nullable PendingCall slotAndWheelTimer(UnderWay calls) {
        PendingCall answered = slotAndSweep(calls);
        int turn = calls.next;
        long id = calls.ids[turn];
        if (calls.timeouts[turn] instanceof Timeout earlier) {
            earlier.cancel();
        }
        calls.timeouts[turn] = wheel.newTimeout(late -> table.remove(id), TIMEOUT_SECONDS, TimeUnit.SECONDS);
        return answered;
    }

    @Benchmark
    public @Nullable PendingCall slotAndScheduler(UnderWay calls) {
        PendingCall answered = slotAndSweep(calls);
        int turn = calls.next;
        long id = calls.ids[turn];
        if (calls.timeouts[turn] instanceof ScheduledFuture<?> earlier) {
            earlier.cancel(false);
        }
        calls.timeouts[turn] = scheduler.schedule(() -> table.remove(id), TIMEOUT_SECONDS, TimeUnit.SECONDS);
        return answered;
    }
}
