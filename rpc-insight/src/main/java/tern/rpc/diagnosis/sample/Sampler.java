package tern.rpc.diagnosis.sample;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.stack.CalledMethods;
import tern.rpc.diagnosis.stack.CallerWaits;
import tern.rpc.diagnosis.stack.ClassInitializers;
import tern.rpc.diagnosis.stack.EventLoops;
import tern.rpc.diagnosis.stack.JdkLocks;
import tern.rpc.diagnosis.stack.LibraryWaits;
import tern.rpc.diagnosis.stack.NameLookups;
import tern.rpc.diagnosis.stack.StackReader;
import tern.rpc.diagnosis.stack.ThreadSnapshot;
import tern.rpc.diagnosis.stack.ThreadSnapshots;
import tern.rpc.evidence.RunQueue;

/**
 * Samples the threads of running calls. One sample reads at most {@value #MAX_THREADS} stacks. Not thread-safe: only
 * one thread uses it.
 */
public final class Sampler {

    private static final int MAX_THREADS = 32;
    private static final int MAX_PAUSE_MILLIS = 500;
    private static final long SLOW_NANOS = TimeUnit.MICROSECONDS.toNanos(1_400); // makes the pause longer than usual
    static final int MAX_CALLS = 2_048; // the maximum number of calls whose samples are kept
    private static final int MAX_SAMPLES = 64; // the maximum number of samples per call
    private static final long KEPT_NANOS = TimeUnit.SECONDS.toNanos(60);
    /**
     * If a call ended at least a second ago but is still in the list of running calls, its thread is assumed to be
     * still working on it. An example is a call whose deadline has passed.
     */
    private static final long WORKS_ON_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final RunQueue runQueue;
    // The calls are ordered by their last samples, oldest first. CallLedger does not override equals, so a ledger is
    // equal only to itself.
    private final Map<CallLedger, SampledCall> samples = new LinkedHashMap<>();
    private final TaskWatch tasks = new TaskWatch();
    private final ClassInitializers initializers = new ClassInitializers();
    private final RunningCode code = new RunningCode();
    private final Random random = new Random(1);
    private long lookNanos; // how long it took to read all stacks of the last sample, in nanoseconds

    public Sampler(RunQueue runQueue) {
        this.runQueue = runQueue;
    }

    /**
     * Returns the pause before the next sample. The pause varies from 60 to 140 ms, so that the samples do not coincide
     * with periodic work. After a slow sample, the pause is longer, but at most {@value #MAX_PAUSE_MILLIS} ms: on a
     * busy machine, a sample is slow because it waits for a processor, and too few samples would explain nothing. The
     * counters of threads that were found computing are then read again after a short pause.
     */
    public long pauseNanos() {
        if (code.isDue()) {
            return RunningCode.PAUSE_NANOS;
        }
        long longest = TimeUnit.MILLISECONDS.toNanos(MAX_PAUSE_MILLIS);
        return Math.max(TimeUnit.MILLISECONDS.toNanos(60 + random.nextInt(80)), Math.min(lookNanos * 100, longest));
    }

    /** Samples the threads of the calls that have run longest, and of some randomly chosen calls. */
    public void look(List<RunningCall> running, long now) {
        if (code.measure(runQueue, now)) {
            return;
        }
        boolean isCommonPoolFull = CommonPool.isFull();
        tasks.moments().add(now, isCommonPoolFull);
        List<CallThread> all = new ArrayList<>();
        running.forEach(call -> all.addAll(CallThread.of(call)));
        List<CallThread> chosen = choose(all);
        Map<Long, ThreadSnapshot> looks = read(chosen);
        Map<Long, RunningCall> byThread = new HashMap<>();
        running.forEach(call -> byThread.put(call.threadId(), call));
        boolean waits = running.stream().anyMatch(Sampler::waitsWithoutThread);
        boolean waitsForLock = false;
        Map<Long, ThreadSnapshot> awaited = initializers.awaited(looks.values(), now);
        for (CallThread worker : chosen) {
            ThreadSnapshot thread = looks.get(worker.id());
            if (thread == null || hasLeft(worker, thread, now)) {
                continue;
            }
            if (worker.runsPart()) {
                addPart(worker, thread, now);
            } else {
                waits |= NameLookups.mayAwait(worker.phase()) && !thread.computes();
                Sample sample = sample(worker, thread, awaited.get(thread.id()), byThread, now);
                waits |= add(worker, sample) || sample.part().kind() == Part.Kind.HTTP;
                waitsForLock |= waitsForUnknownHolder(sample);
                SampledCall known = samples.get(worker.call().ledger());
                if (known != null) {
                    code.add(known, worker, sample, runQueue);
                    known.socketWaits.add(
                            sample, () -> runQueue.of(worker.work().thread()));
                    known.addSleeps(sample.part(), sample.part().kind() == Part.Kind.SLEEP ? waits(thread) : -1);
                    known.addStack(worker.phase(), thread, isCommonPoolFull);
                    waits |= known.forkedLooks > 0;
                }
            }
        }
        if (waitsForLock) {
            addHolders(LockQueues.outside(all.subList(chosen.size(), all.size())), byThread, now);
        }
        addOperations(running, now);
        boolean areCarriersFull = looks.values().stream().anyMatch(StackReader::waitsForCarrier);
        if (areCarriersFull) {
            tasks.carriers().look(running, looks);
        }
        if (waits || areCarriersFull) {
            tasks.look(byThread.keySet(), callThreads(chosen, looks), areCarriersFull, now);
        }
        forget(now);
        lookNanos = System.nanoTime() - now;
        if (lookNanos < SLOW_NANOS) {
            code.clear();
        }
    }

    /**
     * Returns whether the thread has finished the call since the list of running calls was read. The thread's stack
     * then shows another call, or the wait for the next task. If the call is still in the list although it ended long
     * ago, for example at its deadline, its thread is still working on it.
     */
    private static boolean hasLeft(CallThread worker, ThreadSnapshot thread, long now) {
        CallLedger ledger = worker.call().ledger();
        boolean hasJustEnded = ledger.isEnded() && now - ledger.endedNanos() < WORKS_ON_NANOS;
        return hasJustEnded || JdkLocks.isIdle(thread);
    }

    /**
     * Returns the number of times that the thread has waited or slept so far; -1 if unknown, as for a virtual thread.
     */
    private static long waits(ThreadSnapshot thread) {
        ThreadInfo info = THREADS.getThreadInfo(thread.id());
        return info == null ? -1 : info.getWaitedCount();
    }

    /** Returns the common names of the threads that were found serving calls. */
    private static Set<String> callThreads(List<CallThread> chosen, Map<Long, ThreadSnapshot> looks) {
        Set<String> names = new HashSet<>();
        for (CallThread worker : chosen) {
            ThreadSnapshot thread = looks.get(worker.id());
            if (thread != null && !worker.runsPart()) {
                names.add(TaskWatch.nameOf(thread));
            }
        }
        return names;
    }

    private static boolean waitsWithoutThread(RunningCall call) {
        return call.threadId() == RunningCall.NO_THREAD && call.phase() == Phase.UNATTRIBUTED;
    }

    /**
     * Chooses the threads to sample. If there are too many threads, half of the chosen threads serve the calls that
     * have run longest. The rest are chosen at random.
     *
     * @param all the threads of all running calls; the chosen ones are moved to its beginning
     */
    private List<CallThread> choose(List<CallThread> all) {
        if (all.size() <= MAX_THREADS) {
            return all;
        }
        all.sort((one, other) ->
                Long.compare(other.call().runningNanos(), one.call().runningNanos()));
        List<CallThread> rest = all.subList(MAX_THREADS / 2, all.size());
        Collections.shuffle(rest, random);
        return all.subList(0, MAX_THREADS);
    }

    private static Map<Long, ThreadSnapshot> read(List<CallThread> workers) {
        Map<Long, ThreadSnapshot> looks = ThreadSnapshots.of(
                workers.stream().mapToLong(CallThread::id).distinct().toArray());
        for (CallThread worker : workers) {
            ThreadSnapshot virtual = looks.containsKey(worker.id()) ? null : worker.virtual();
            if (virtual != null) {
                looks.put(worker.id(), virtual);
            }
        }
        return looks;
    }

    /**
     * @param initializer the thread that initializes a class while the call's thread is waiting for this class; null if
     *     the call's thread is not waiting for a class
     */
    private Sample sample(
            CallThread worker,
            ThreadSnapshot thread,
            @Nullable ThreadSnapshot initializer,
            Map<Long, RunningCall> byThread,
            long now) {
        ThreadSnapshot owner = initializer == null ? StackReader.lastOwner(thread) : initializer;
        String initialized = initializer == null ? null : StackReader.initialized(initializer);
        Part read = initialized == null
                ? EventLoops.ofCall(LibraryWaits.ofCall(StackReader.read(thread), worker.phase(), thread), thread)
                : new Part(Part.Kind.CLASS_INITIALIZATION, initialized);
        Part local = LocalWork.of(read, worker.phase(), thread);
        Part part = local == null ? read : local;
        String called = CalledMethods.of(initializer == null ? thread : initializer);
        return new Sample(
                now,
                worker.phase(),
                part,
                JdkLocks.isNeverReleased(part) ? StackReader.path(thread) : path(thread, initializer, owner),
                called,
                owner == null ? null : StackReader.first(initializer == null ? owner : thread),
                owner == null ? null : owner.name(),
                local != null || part.kind() == Part.Kind.RESOLVER,
                owner == null ? null : phaseOf(owner, byThread.get(owner.id())),
                thread.cpuNanos(),
                runQueue.of(worker.work().thread()).delayNanos(),
                owner == null || initializer != null ? null : StackReader.read(owner),
                worker.runsPart() ? null : AwaitedOperations.of(worker.call(), read, called));
    }

    /**
     * Returns the phase of the call that a lock's owner serves, or the kind of the asynchronous operation that the
     * owner waits for; null if it serves no call.
     */
    private static @Nullable Phase phaseOf(ThreadSnapshot owner, @Nullable RunningCall call) {
        if (call == null) {
            return null;
        }
        NamedTimes.Entry operation = AwaitedOperations.of(call, StackReader.read(owner), CalledMethods.of(owner));
        return operation == null ? call.phase() : operation.kind();
    }

    /** Adds samples of threads that may hold the lock for which other calls wait. */
    private void addHolders(List<CallThread> holders, Map<Long, RunningCall> byThread, long now) {
        Map<Long, ThreadSnapshot> looks = read(holders);
        for (CallThread holder : holders) {
            ThreadSnapshot thread = looks.get(holder.id());
            if (thread != null && !hasLeft(holder, thread, now)) {
                samplesOf(holder.call(), now).addHolder(sample(holder, thread, null, byThread, now));
            }
        }
    }

    /** Records the asynchronous operations of calls that continue without a thread. */
    private void addOperations(List<RunningCall> running, long now) {
        int left = MAX_THREADS;
        for (RunningCall call : running) {
            NamedTimes.Entry operation = left > 0 && call.threadId() == RunningCall.NO_THREAD
                    ? AwaitedOperations.longest(call.ledger())
                    : null;
            if (operation == null) {
                continue;
            }
            SampledCall known = samplesOf(call, now);
            if (known.withoutThread.size() < MAX_SAMPLES) {
                left--;
                known.withoutThread.add(new SampledCall.Operation(now, operation));
            }
        }
    }

    private static List<StackTraceElement> path(
            ThreadSnapshot thread, @Nullable ThreadSnapshot initializer, @Nullable ThreadSnapshot owner) {
        if (initializer != null) {
            return StackReader.path(initializer);
        }
        return owner == null ? StackReader.path(thread) : StackReader.holderPath(thread);
    }

    /**
     * Adds a sample to the call's samples.
     *
     * @return whether the call is waiting for another thread's result, or for a lock whose owner the JVM does not
     *     report
     */
    private boolean add(CallThread worker, Sample sample) {
        SampledCall known = samplesOf(worker.call(), sample.atNanos());
        if (known.list.size() < MAX_SAMPLES) {
            known.add(sample);
        }
        boolean isResult = sample.part().kind() == Part.Kind.RESULT;
        if (isResult && worker.phase() == Phase.OWN) {
            known.addResult(worker.call().ledger());
        }
        return worker.phase() == Phase.OWN
                && (waitsForUnknownHolder(sample) || isResult || LibraryWaits.isOwnPool(sample.part()));
    }

    private static boolean waitsForUnknownHolder(Sample sample) {
        return sample.part().kind() == Part.Kind.LOCK && sample.owner() == null;
    }

    /**
     * Adds a sample of a thread that does only some of a call's work. The sample is kept only if the thread is waiting
     * for the call's caller, because {@link TaskWatch} samples all other work of such threads.
     */
    private void addPart(CallThread worker, ThreadSnapshot thread, long now) {
        if (!worker.isWorking()) {
            return;
        }
        SampledCall known = samplesOf(worker.call(), now);
        if (CallerWaits.of(thread) == null) {
            known.addOther();
        } else if (known.list.size() < MAX_SAMPLES) {
            known.add(sample(worker, thread, null, Map.of(), now));
        }
    }

    /**
     * Returns the samples of a call that is being sampled at the given time. If samples of too many calls are kept, the
     * samples of the call that was sampled least recently are dropped.
     */
    private SampledCall samplesOf(RunningCall call, long now) {
        SampledCall known = samples.remove(call.ledger());
        if (known == null) {
            known = new SampledCall(call.method());
            if (samples.size() >= MAX_CALLS) {
                samples.remove(samples.keySet().iterator().next());
            }
        }
        known.sampledAt(now);
        samples.put(call.ledger(), known);
        return known;
    }

    private void forget(long now) {
        Iterator<SampledCall> oldest = samples.values().iterator();
        while (oldest.hasNext() && now - oldest.next().last() > KEPT_NANOS) {
            oldest.remove();
        }
    }

    /** Returns the samples of each call that was sampled within the last minute, by the call's ledger. */
    public Map<CallLedger, SampledCall> samples() {
        return samples;
    }

    /** Returns the samples of threads that serve no call, taken while calls waited for them. */
    public TaskWatch tasks() {
        return tasks;
    }

    public void clear() {
        samples.clear();
        tasks.clear();
        initializers.clear();
        code.clear();
    }
}
