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
import tern.rpc.diagnosis.stack.CacheLoads;
import tern.rpc.diagnosis.stack.CalledMethods;
import tern.rpc.diagnosis.stack.CallerWaits;
import tern.rpc.diagnosis.stack.ClassInitializers;
import tern.rpc.diagnosis.stack.EventLoops;
import tern.rpc.diagnosis.stack.JdkLocks;
import tern.rpc.diagnosis.stack.LibraryWaits;
import tern.rpc.diagnosis.stack.LibraryWork;
import tern.rpc.diagnosis.stack.NameLookups;
import tern.rpc.diagnosis.stack.NewConnections;
import tern.rpc.diagnosis.stack.NewHttpClients;
import tern.rpc.diagnosis.stack.PinnedCarriers;
import tern.rpc.diagnosis.stack.RowReads;
import tern.rpc.diagnosis.stack.StackReader;
import tern.rpc.diagnosis.stack.ThreadSnapshot;
import tern.rpc.diagnosis.stack.ThreadSnapshots;
import tern.rpc.evidence.RunQueue;

/**
 * Samples the threads of running calls. One sample reads at most {@value #MAX_THREADS} stacks. Not thread-safe: only one
 * thread uses it.
 */
public final class Sampler {

    private static final int MAX_THREADS = 32;
    private static final int MAX_PAUSE_MILLIS = 500;
    static final int MAX_CALLS = 2_048; // the maximum number of calls whose samples are kept
    private static final int MAX_SAMPLES = 64; // the maximum number of samples per call
    private static final long KEPT_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final RunQueue runQueue;
    // The calls are ordered by their last samples, oldest first. A ledger is equal only to itself.
    private final Map<CallLedger, Samples> samples = new LinkedHashMap<>();
    private final TaskWatch tasks = new TaskWatch();
    private final ClassInitializers initializers = new ClassInitializers();
    private final Random random = new Random(1);
    private long lookNanos; // the duration of the last sample, in nanoseconds

    /** An asynchronous operation of a call at one moment. */
    public record Operation(long atNanos, NamedTimes.Entry operation) {}

    /** The samples of one call, oldest first. */
    public static final class Samples {
        public final String method;
        public final List<Sample> list = new ArrayList<>();
        /** The operations of the call at moments when no thread worked on it, oldest first. */
        public final List<Operation> withoutThread = new ArrayList<>();

        // the number of samples in which a thread other than the call's own worked for the call and did not wait for
        // its caller
        public int otherLooks;
        private long lastNanos;
        // whether the call's thread ran a task that a full executor had rejected
        public boolean ranRejectedTask;
        // the number of pairs of consecutive samples that both found the thread asleep in the same code
        public int sleepingPairs;
        // the number of sleeps that began between the two samples of such pairs
        public long sleeps;
        private @Nullable Part lastSleep; // the activity of the last sample if the thread slept; null otherwise
        private long waitsBefore; // the thread's number of waits up to the last sample
        public int forkedLooks; // the number of samples in which the call's thread ran a task of the common pool
        public int resultLooks; // the number of samples in which the call's thread waited for another thread
        // the number of samples in which the call's thread waited for another thread although all measured tasks of the
        // call had ended
        public int unattendedLooks;

        @Nullable
        public StackTraceElement pinnedAt; // the last line where the call's virtual thread was pinned to its carrier

        @Nullable
        public String appender; // the class of the logger in which the thread was found last, such as an appender

        public int locationLooks; // the number of samples in which a logger searched the stack for the line that logs

        @Nullable
        public String eventLoop; // the name of the last event loop that ran the call; null if there is none

        // the cache for which an operation of the call's thread loaded a value, from the last sample that shows this;
        // null if there is none
        public @Nullable String cache;
        public @Nullable Phase loadedIn; // the kind of the operation that loaded the value

        public int looks; // the number of samples that found a thread of the call
        public int loopLooks; // the number of samples in which the call's thread was an event loop
        public int poolLooks; // the number of samples in which the call waited for a JDBC connection
        public int
                checkLooks; // the number of samples in which the pool checked the connection for which the call waited
        // the number of samples in which the thread opened a connection of a pool of HTTP or Redis connections
        public int openLooks;
        public int sqlLooks; // the number of samples taken while a statement ran
        public int
                rowLooks; // the number of samples in which the thread waited for the next rows of a statement's result
        public int httpLooks; // the number of samples taken during an HTTP exchange
        public int httpWaits; // the number of samples in which the thread waited for an HTTP connection

        // the number of samples in which a thread of the common pool had to pass on an HTTP answer, but none was free
        public int httpCommonPool;

        public int httpJdkLooks; // the number of samples of exchanges in which the thread used the JDK's HTTP client
        public int httpConnects; // the number of samples in which the thread opened an HTTP connection
        public long
                longestConnect; // the longest period in which all samples found the thread opening an HTTP connection

        // the time of the first sample in the current series of samples in which the thread opened an HTTP connection;
        // 0 if there is no such series
        private long connectsSince;

        public Samples(String method) {
            this.method = method;
        }

        /**
         * Adds a sample. If the sample shows a wait for the initialization of a class, the previous sample of the same
         * wait is changed to show this wait, too. A single sample of such a wait seems to show running code.
         */
        public void add(Sample sample) {
            Sample before = list.isEmpty() ? null : list.get(list.size() - 1);
            boolean awaits = sample.part().kind() == Part.Kind.CLASS_INITIALIZATION && sample.owner() != null;
            if (awaits && before != null && before.isComputing()) {
                list.set(list.size() - 1, before.waitingAs(sample));
            }
            list.add(sample);
            lastNanos = sample.atNanos();
        }

        /** Counts a sample of another thread that works for the call. The sample itself is not added to the list. */
        void addOther() {
            otherLooks++;
        }

        /**
         * Counts the sleeps since the last sample. The JVM counts each sleep of a thread as a wait.
         *
         * @param waits the thread's number of waits so far; -1 if unknown
         */
        public void addSleeps(Part activity, long waits) {
            boolean sleeps = activity.kind() == Part.Kind.SLEEP && waits >= 0;
            if (sleeps && activity.equals(lastSleep)) {
                sleepingPairs++;
                this.sleeps += Math.max(0, waits - waitsBefore);
            }
            lastSleep = sleeps ? activity : null;
            waitsBefore = waits;
        }

        /** Counts a sample in which the thread waited for another thread. */
        void addResult(CallLedger call) {
            resultLooks++;
            boolean hasEndedTasks = call.count(Phase.EXECUTOR) > 0;
            unattendedLooks +=
                    hasEndedTasks && call.parts().isEmpty() && call.unfinished().isEmpty() ? 1 : 0;
        }

        /** @param isCommonPoolFull whether the common pool had no free thread */
        public void addStack(Phase phase, ThreadSnapshot thread, boolean isCommonPoolFull) {
            ranRejectedTask |= StackReader.runsRejectedTask(thread);
            forkedLooks += thread.runsForkedTask() ? 1 : 0;
            pinnedAt = PinnedCarriers.isPinned(thread) ? StackReader.first(thread) : pinnedAt;
            looks++;
            if (EventLoops.isOne(thread)) {
                loopLooks++;
                eventLoop = thread.name();
            }
            String writes = phase == Phase.LOGGING || isLogging() ? LibraryWork.appender(thread) : null;
            appender = writes == null ? appender : writes;
            String loads = phase.isOperation() ? CacheLoads.cacheIn(thread) : null;
            if (loads != null) {
                cache = loads;
                loadedIn = phase;
            }
            locationLooks += phase == Phase.LOGGING && LibraryWork.findsLocation(thread) ? 1 : 0;
            if (phase == Phase.JDBC_CONNECTION) {
                poolLooks++;
                checkLooks += ConnectionChecks.isOne(thread) ? 1 : 0;
            }
            if (phase == Phase.HTTP_CONNECTION || phase == Phase.REDIS_CONNECTION) {
                openLooks += NewConnections.isOpening(thread) ? 1 : 0;
            }
            if (phase == Phase.SQL) {
                sqlLooks++;
                rowLooks += RowReads.waits(thread) ? 1 : 0;
            }
            // If Tern does not measure the HTTP client, the ledger contains no exchange. Only the stack shows the
            // exchange.
            boolean isSeen = !list.isEmpty() && list.get(list.size() - 1).part().kind() == Part.Kind.HTTP;
            if (phase == Phase.HTTP || isSeen) {
                httpLooks++;
                httpJdkLooks += NewHttpClients.isUsedBy(thread) ? 1 : 0;
                httpWaits += StackReader.waitsForHttpConnection(thread) ? 1 : 0;
                httpCommonPool += isCommonPoolFull && StackReader.awaitsCommonPool(thread) ? 1 : 0;
                addConnect(NewConnections.isOpening(thread));
            }
        }

        private boolean isLogging() {
            return !list.isEmpty() && list.get(list.size() - 1).part().kind() == Part.Kind.LOG;
        }

        private void addConnect(boolean opens) {
            if (!opens) {
                connectsSince = 0;
                return;
            }
            httpConnects++;
            connectsSince = connectsSince == 0 ? last() : connectsSince;
            longestConnect = Math.max(longestConnect, last() - connectsSince);
        }

        long last() {
            return lastNanos;
        }

        /**
         * Returns the samples of the call, oldest first. If the call's thread waited for an asynchronous operation that
         * has ended since, its samples show the operation.
         *
         * @param call the ledger of the call
         */
        public List<Sample> ofCall(CallLedger call) {
            return AwaitedOperations.resolved(list, call);
        }
    }

    public Sampler(RunQueue runQueue) {
        this.runQueue = runQueue;
    }

    /**
     * Returns the pause before the next sample. The pause varies from 60 to 140 ms, so that the samples do not coincide
     * with periodic work. After a slow sample, the pause is longer, but at most {@value #MAX_PAUSE_MILLIS} ms: on a busy
     * machine, a sample is slow because it waits for a processor, and too few samples would explain nothing.
     */
    public long pauseNanos() {
        long longest = TimeUnit.MILLISECONDS.toNanos(MAX_PAUSE_MILLIS);
        return Math.max(TimeUnit.MILLISECONDS.toNanos(60 + random.nextInt(80)), Math.min(lookNanos * 100, longest));
    }

    /** Samples the threads of the calls that have run longest, and of some randomly chosen calls. */
    public void look(List<RunningCall> running, long now) {
        boolean isCommonPoolFull = CommonPool.isFull();
        tasks.moments().add(now, isCommonPoolFull);
        List<CallThread> chosen = choose(running);
        Map<Long, ThreadSnapshot> looks = read(chosen);
        Map<Long, RunningCall> byThread = new HashMap<>();
        running.forEach(call -> byThread.put(call.threadId(), call));
        boolean waits = running.stream().anyMatch(Sampler::waitsWithoutThread);
        Map<Long, ThreadSnapshot> awaited = initializers.awaited(looks.values(), now);
        for (CallThread worker : chosen) {
            ThreadSnapshot thread = looks.get(worker.id());
            if (thread == null || hasLeft(worker, thread)) {
                continue;
            }
            if (worker.runsPart()) {
                addPart(worker, thread, now);
            } else {
                waits |= NameLookups.mayAwait(worker.phase()) && !thread.computes();
                Sample sample = sample(worker, thread, awaited.get(thread.id()), byThread, now);
                waits |= add(worker, sample) || sample.part().kind() == Part.Kind.HTTP;
                Samples known = samples.get(worker.call().ledger());
                if (known != null) {
                    known.addSleeps(sample.part(), sample.part().kind() == Part.Kind.SLEEP ? waits(thread) : -1);
                    known.addStack(worker.phase(), thread, isCommonPoolFull);
                    waits |= known.forkedLooks > 0;
                }
            }
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
    }

    /**
     * Returns whether the thread has finished the call since the list of running calls was read. The thread's stack
     * then shows another call, or the wait for the next task.
     */
    private static boolean hasLeft(CallThread worker, ThreadSnapshot thread) {
        return worker.call().ledger().isEnded() || JdkLocks.isIdle(thread);
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
     */
    private List<CallThread> choose(List<RunningCall> running) {
        List<CallThread> all = new ArrayList<>();
        running.forEach(call -> all.addAll(CallThread.of(call)));
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
     * Returns the phase of the call that a lock's owner serves, or the kind of the asynchronous operation for which the
     * owner waits; null if it serves no call.
     */
    private static @Nullable Phase phaseOf(ThreadSnapshot owner, @Nullable RunningCall call) {
        if (call == null) {
            return null;
        }
        NamedTimes.Entry operation = AwaitedOperations.of(call, StackReader.read(owner), CalledMethods.of(owner));
        return operation == null ? call.phase() : operation.kind();
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
            Samples known = samplesOf(call, now);
            if (known.withoutThread.size() < MAX_SAMPLES) {
                left--;
                known.withoutThread.add(new Operation(now, operation));
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
        Samples known = samplesOf(worker.call(), sample.atNanos());
        if (known.list.size() < MAX_SAMPLES) {
            known.add(sample);
        }
        boolean isResult = sample.part().kind() == Part.Kind.RESULT;
        if (isResult && worker.phase() == Phase.OWN) {
            known.addResult(worker.call().ledger());
        }
        boolean isLock = sample.part().kind() == Part.Kind.LOCK && sample.owner() == null;
        return worker.phase() == Phase.OWN && (isLock || isResult || LibraryWaits.isOwnPool(sample.part()));
    }

    /**
     * Adds a sample of a thread that does only some of a call's work. The sample is kept only if the thread is waiting
     * for the call's caller, because {@link TaskWatch} samples all other work of such threads.
     */
    private void addPart(CallThread worker, ThreadSnapshot thread, long now) {
        if (!worker.isWorking()) {
            return;
        }
        Samples known = samplesOf(worker.call(), now);
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
    private Samples samplesOf(RunningCall call, long now) {
        Samples known = samples.remove(call.ledger());
        if (known == null) {
            known = new Samples(call.method());
            if (samples.size() >= MAX_CALLS) {
                samples.remove(samples.keySet().iterator().next());
            }
        }
        known.lastNanos = now;
        samples.put(call.ledger(), known);
        return known;
    }

    private void forget(long now) {
        Iterator<Samples> oldest = samples.values().iterator();
        while (oldest.hasNext() && now - oldest.next().last() > KEPT_NANOS) {
            oldest.remove();
        }
    }

    /** Returns the samples of each call that was sampled within the last minute, by the call's ledger. */
    public Map<CallLedger, Samples> samples() {
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
    }
}
