package tern.rpc.diagnosis;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.PauseTimes;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.calls.Answers;
import tern.rpc.diagnosis.calls.Baseline;
import tern.rpc.diagnosis.calls.MethodAllocation;
import tern.rpc.diagnosis.calls.MethodRate;
import tern.rpc.diagnosis.calls.UsualOperations;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.machine.HeapGrowth;
import tern.rpc.diagnosis.machine.Machine;
import tern.rpc.diagnosis.machine.OpenFileUse;
import tern.rpc.diagnosis.pool.ConnectionUse;
import tern.rpc.diagnosis.pool.ObservedPool;
import tern.rpc.diagnosis.sample.HeldRows;
import tern.rpc.diagnosis.sample.SampledCall;
import tern.rpc.diagnosis.sample.TaskWatch;
import tern.rpc.diagnosis.stack.CalledMethods;
import tern.rpc.diagnosis.stack.EventLoops;
import tern.rpc.diagnosis.stack.StackReader;
import tern.rpc.diagnosis.stack.ThreadSnapshot;
import tern.rpc.pool.LoggingMode;
import tern.rpc.pool.OutsideOperations;
import tern.rpc.pool.PoolSnapshot;

/** Recorded late calls with samples of their threads, and the ranked causes. The latency target is 100 ms. */
public final class SampledCalls {

    private static final int CALLS = 20;
    private static final int LOOKS = 5;

    /** Usual times count as reliable after {@value} seconds. */
    private static final int LEARNT_SECONDS = 20;

    private final AtomicLong time = new AtomicLong(1_000_000_000L);
    private final List<EndedCall> bad = new ArrayList<>();
    private final List<EndedCall> earlier = new ArrayList<>();
    private final List<EndedCall> good = new ArrayList<>();
    private final Map<CallLedger, SampledCall> samples = new HashMap<>();
    private final Baseline usual = new Baseline();
    private PauseTimes pauses = PauseTimes.NONE;
    private Machine machine = Machine.UNKNOWN;
    private TaskWatch tasks = new TaskWatch();
    private List<ObservedPool> pools = List.of();
    private final List<OutsideOperations.Timed> outside = new ArrayList<>();
    private List<MethodRate> rates = List.of();
    private List<MethodAllocation> allocations = List.of();
    private double seconds = 10;
    private double queueMillis;
    private Phase borrow = Phase.JDBC_CONNECTION;
    private String pool = "";
    private double poolMillis;
    private @Nullable Throwable failure;
    private @Nullable String executor;
    private long missedFrom = time.get();
    private Answers answers = Answers.unknown();
    private OpenFileUse files = OpenFileUse.UNKNOWN;

    /** Sets what the open files and sockets of the process refer to. */
    public SampledCalls openFiles(OpenFileUse use) {
        files = use;
        return this;
    }

    /** Sets the samples of threads that serve no call. */
    public SampledCalls tasks(TaskWatch samples) {
        tasks = samples;
        return this;
    }

    /** Sets the states of the pools at the end of the observed period. */
    public SampledCalls pool(PoolSnapshot... snapshots) {
        pools = Stream.of(snapshots)
                .map(snapshot -> ObservedPool.of(snapshot, null, null, Set.of(), -1, null))
                .toList();
        return this;
    }

    /** Sets the state of a pool whose connections or threads are usually held for the given time. */
    public SampledCalls pool(PoolSnapshot snapshot, double usualHoldMillis) {
        pools = List.of(ObservedPool.of(snapshot, null, null, Set.of(), usualHoldMillis * 1e6, null));
        return this;
    }

    /**
     * Sets the state of a database pool whose connections are usually held for the given time.
     *
     * @param use the activities of the holders of the connections
     */
    public SampledCalls pool(PoolSnapshot snapshot, double usualHoldMillis, ConnectionUse use) {
        pools = List.of(ObservedPool.of(snapshot, null, null, Set.of(), usualHoldMillis * 1e6, use));
        return this;
    }

    /** Sets the length of the observed period, in which all calls ended. */
    public SampledCalls during(double observedSeconds) {
        seconds = observedSeconds;
        return this;
    }

    /** Adds pauses of the garbage collector to each call. */
    public SampledCalls pausedMillis(double millis) {
        pauses = (from, to) -> {
            Times times = new Times();
            times.add(Part.of(Part.Kind.COLLECTOR), millis * 1e6);
            return times;
        };
        machine = new Machine(2, 1, 0, 0, 0.3, 0.3, "G1 Evacuation Pause", 1e6, 1e6, List.of(), 0, null, List.of());
        return this;
    }

    /** Sets the state of the processors and the memory. */
    public SampledCalls on(Machine state) {
        machine = state;
        return this;
    }

    public SampledCalls pauses(PauseTimes of) {
        pauses = of;
        return this;
    }

    public SampledCalls allocating(MethodAllocation... byMethod) {
        allocations = List.of(byMethod);
        return this;
    }

    public SampledCalls growing(HeapGrowth growth) {
        machine = machine.growing(growth);
        return this;
    }

    /**
     * Simulates collector cycles that are caused by allocation stalls and take the given time during each call.
     *
     * @param cause the main cause of collections
     */
    public SampledCalls stalledMillis(double millis, String cause) {
        pauses = new PauseTimes() {
            @Override
            public Times between(long fromNanos, long toNanos) {
                return new Times();
            }

            @Override
            public double stalledNanos(long fromNanos, long toNanos) {
                return millis * 1e6;
            }
        };
        machine = new Machine(2, 1, 0, 0, 0, 0.3, cause, 1e6, 1e6, List.of(), 0, null, List.of());
        return this;
    }

    /**
     * Adds calls that spend time in a phase.
     *
     * @param look samples the call's thread, and adds the sample to the call's samples
     */
    public SampledCalls calls(String method, Phase phase, double millis, Consumer<SampledCall> look) {
        return add(method, 0, phase, phase.isOperation() ? "GET stock:80" : null, 1, millis, look);
    }

    /** Adds calls that wait for a thread before they spend time in their own code. */
    public SampledCalls queued(String method, double queuedMillis, double ownMillis, Consumer<SampledCall> look) {
        return add(method, ownMillis, Phase.QUEUE, null, 1, queuedMillis, look);
    }

    /** Adds calls that wait for a thread, and then run an operation. */
    public SampledCalls waitingForThread(
            String method, double queuedMillis, Phase phase, double millis, Consumer<SampledCall> look) {
        queueMillis = queuedMillis;
        add(method, 0, phase, "select orders", 1, millis, look);
        queueMillis = 0;
        return this;
    }

    /** Adds calls that wait for a connection of a database pool, and then run an operation. */
    public SampledCalls borrowing(
            String method,
            String from,
            double waitMillis,
            Phase phase,
            String operation,
            double millis,
            Consumer<SampledCall> look) {
        return waiting(Phase.JDBC_CONNECTION, from, waitMillis, method, phase, operation, millis, look);
    }

    /** Adds calls that wait for a connection of a pool of HTTP connections, and then run an exchange. */
    public SampledCalls exchanging(
            String method, String from, double waitMillis, String exchange, double millis, Consumer<SampledCall> look) {
        return waiting(Phase.HTTP_CONNECTION, from, waitMillis, method, Phase.HTTP, exchange, millis, look);
    }

    private SampledCalls waiting(
            Phase connection,
            String from,
            double waitMillis,
            String method,
            Phase phase,
            String operation,
            double millis,
            Consumer<SampledCall> look) {
        borrow = connection;
        pool = from;
        poolMillis = waitMillis;
        add(method, 0, phase, operation, 1, millis, look);
        poolMillis = 0;
        return this;
    }

    private SampledCalls add(
            String method,
            double ownMillis,
            Phase phase,
            @Nullable String operation,
            int times,
            double millis,
            Consumer<SampledCall> look) {
        for (int i = 0; i < CALLS; i++) {
            EndedCall call = call(method, ownMillis, phase, operation, times, millis);
            SampledCall all = new SampledCall(method);
            for (int each = 0; each < LOOKS; each++) {
                look.accept(all);
            }
            samples.put(call.ledger(), all);
            bad.add(call);
        }
        return this;
    }

    private EndedCall call(
            String method, double ownMillis, Phase phase, @Nullable String operation, int times, double millis) {
        CallLedger ledger = CallLedger.ofReceived(time::get, time.get(), 0);
        ledger.turnTo(Phase.QUEUE);
        time.addAndGet((long) (queueMillis * 1e6));
        ledger.turnTo(Phase.OWN);
        if (executor != null) {
            Phase outer = ledger.enter(Phase.CALLER_RUNS, executor);
            time.addAndGet(1_000_000);
            ledger.leave(outer, executor);
        }
        time.addAndGet((long) (ownMillis * 1e6));
        if (poolMillis > 0) {
            Phase outer = ledger.enter(borrow);
            time.addAndGet((long) (poolMillis * 1e6));
            ledger.leave(outer, pool);
        }
        for (int i = 0; i < times; i++) {
            Phase outer = ledger.enter(phase);
            time.addAndGet((long) (millis * 1e6));
            ledger.leave(outer, operation);
        }
        ledger.end();
        return new EndedCall(
                method,
                ledger,
                time.get(),
                (long) ((queueMillis + ownMillis + poolMillis + times * millis) * 1e6),
                failure);
    }

    /**
     * Adds calls that are still running and have spent the given time in a phase.
     *
     * @param operation the operation that they run; null if it is unknown
     * @param look samples the call's thread, and adds the sample to the call's samples
     */
    public SampledCalls hanging(
            int calls,
            String method,
            Phase phase,
            @Nullable String operation,
            double millis,
            Consumer<SampledCall> look) {
        long now = time.get();
        for (int i = 0; i < calls; i++) {
            time.set(now - (long) (millis * 1e6));
            CallLedger ledger = CallLedger.ofReceived(time::get, time.get(), 0);
            ledger.turnTo(Phase.OWN);
            ledger.enter(phase, operation);
            time.set(now);
            SampledCall all = new SampledCall(method);
            for (int each = 0; each < LOOKS; each++) {
                look.accept(all);
            }
            samples.put(ledger, all);
            bad.add(new EndedCall(method, ledger, now, (long) (millis * 1e6), null));
        }
        return this;
    }

    public SampledCalls pass(double millis) {
        time.addAndGet((long) (millis * 1e6));
        return this;
    }

    /** Records that a call has just got an answer from the database or from Redis. */
    public SampledCalls answered(Phase phase) {
        Map<Phase, Long> known = new HashMap<>(answers.byPhase());
        known.put(phase, time.get());
        answers = new Answers(known, Map.of(), Map.of(), Map.of(), answers.silence());
        return this;
    }

    /** Adds calls that meet the target with an operation of the given kind. */
    public SampledCalls quick(String method, Phase phase, String name, double millis) {
        for (int i = 0; i < CALLS; i++) {
            good.add(call(method, 0, phase, name, 1, millis));
        }
        return this;
    }

    /** Makes the calls that were added so far end before the observed period. */
    public SampledCalls endedEarlier() {
        earlier.addAll(bad);
        bad.clear();
        return this;
    }

    /** Makes calls begin to miss the latency target now, that is, after the calls that were added so far. */
    public SampledCalls missBegins() {
        missedFrom = time.get();
        return this;
    }

    /**
     * Sets the usual value of a measured quantity. If this method is called several times, the usual value is learned
     * from all given values.
     */
    public SampledCalls usualFigure(String name, double value) {
        usual.learn(name, value);
        return this;
    }

    /** Sets the current and the usual time of calls to a remote method from threads that serve no call. */
    SampledCalls remoteOutside(String name, double millis, double usualMillis) {
        OutsideOperations.Timed timed = new OutsideOperations.Timed(Phase.RPC, name, "", millis * 1e6);
        outside.add(timed);
        for (int second = 0; second < LEARNT_SECONDS; second++) {
            usual.learn(Baseline.OUTSIDE + timed.key(), usualMillis * 1e6);
        }
        return this;
    }

    /** Sets the usual time that calls to a method spend outside of operations, and their usual number per second. */
    public SampledCalls usuallyOwn(String method, double millis, double perSecond) {
        for (int second = 0; second < LEARNT_SECONDS; second++) {
            CallLedger ledger = CallLedger.ofReceived(time::get, time.get(), 0);
            ledger.turnTo(Phase.OWN);
            time.addAndGet((long) (millis * 1e6));
            ledger.end();
            usual.learn(
                    Map.of(),
                    List.of(new EndedCall(method, ledger, time.get(), (long) (millis * 1e6), null)),
                    List.of());
        }
        usual.learn("calls", perSecond);
        rates = List.of(new MethodRate(method, bad.size() / seconds, perSecond, 0, null, 0, null, seconds, -1));
        return this;
    }

    /** Sets the usual time of an operation. */
    public SampledCalls usually(String method, Phase phase, String name, double millis) {
        return usually(method, phase, name, 1, millis);
    }

    /** Sets the usual number of operations of the given kind in a call, and their usual time. */
    public SampledCalls usually(String method, Phase phase, String name, int times, double millis) {
        UsualOperations.learn(usual, List.of(call(method, 0, phase, name, times, millis)));
        return this;
    }

    /**
     * Adds calls that wait, and then run an HTTP exchange.
     *
     * @param look samples the call's thread, and adds the sample to the call's samples
     */
    public SampledCalls waiting(
            String method, String operation, double millis, double waitMillis, Consumer<SampledCall> look) {
        return add(method, waitMillis, Phase.HTTP, operation, 1, millis, look);
    }

    /** Adds calls that run a statement and then use processor time. */
    public SampledCalls running(
            String method, String statement, double millis, double ownMillis, Consumer<SampledCall> look) {
        return add(method, ownMillis, Phase.SQL, statement, 1, millis, look);
    }

    /** Makes the calls that are added after this call run a rejected task of the given executor. */
    public SampledCalls running(String rejectedBy) {
        executor = rejectedBy;
        return this;
    }

    /** Sets the failure of the calls that are added after this call. */
    public SampledCalls failing(@Nullable Throwable with) {
        failure = with;
        return this;
    }

    /**
     * Adds calls that alternate between waiting and repeating an HTTP exchange.
     *
     * @param look samples the call's thread, and adds the sample to the call's samples
     */
    public SampledCalls repeatingExchange(
            String method, String exchange, int times, double millis, double waitMillis, Consumer<SampledCall> look) {
        return add(method, waitMillis, Phase.HTTP, exchange, times, millis, look);
    }

    /**
     * Adds calls that repeatedly run a command of 1 ms, and also spend time on a wait.
     *
     * @param look samples the call's thread, and adds the sample to the call's samples
     */
    SampledCalls repeating(String method, String command, int times, double waitMillis, Consumer<SampledCall> look) {
        return add(method, waitMillis, Phase.REDIS, command, times, 1, look);
    }

    /**
     * Adds calls that repeat an operation.
     *
     * @param look samples the call's thread, and adds the sample to the call's samples
     */
    public SampledCalls repeatingIn(
            String method, Phase phase, String operation, int times, double millis, Consumer<SampledCall> look) {
        return add(method, 1, phase, operation, times, millis, look);
    }

    /** Sets the usual number of operations in a call to a method, which also spends time in its own code. */
    public SampledCalls usuallyRuns(String method, Phase phase, String operation, int times) {
        for (int second = 0; second < LEARNT_SECONDS; second++) {
            EndedCall call = call(method, 1, phase, operation, times, 6);
            usual.learn(Map.of(), List.of(call), List.of());
            UsualOperations.learn(usual, List.of(call));
        }
        return this;
    }

    /** Returns a sample of a thread whose call is in the given phase. */
    public static Sample sample(Phase phase, ThreadSnapshot thread) {
        return new Sample(
                0,
                phase,
                EventLoops.ofCall(StackReader.read(thread), thread),
                StackReader.path(thread),
                CalledMethods.of(thread),
                null,
                null,
                false,
                null,
                -1,
                -1);
    }

    /** Returns the causes, most expensive first. */
    public List<Cause> causes() {
        return new Ranking(evidence(), time.get()).causes();
    }

    /** Returns the evidence about the added calls. */
    public Evidence evidence() {
        return new Evidence(
                100_000_000L,
                seconds,
                time.get() - missedFrom,
                bad,
                good,
                Stream.concat(earlier.stream(), bad.stream()).toList(),
                good,
                samples,
                tasks,
                new HeldRows(),
                LoggingMode.ASYNCHRONOUS,
                Map.of(),
                List.of(),
                usual,
                pauses,
                pools,
                Map.of(),
                new Evidence.Counts(bad.size(), bad.size(), 0, 0, 0),
                machine,
                answers,
                rates,
                List.of(),
                Stream.concat(OutsideOperations.timed(System.nanoTime()).stream(), outside.stream())
                        .toList(),
                files,
                allocations);
    }
}
