package tern.rpc.diagnosis;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.RunningCall;
import tern.rpc.evidence.RunQueue;

/**
 * Samples the threads of running calls. One sample reads at most {@value #MAX_THREADS} stacks. The pause before the
 * next sample is at least a hundred times the duration of the last sample. Not thread-safe: only one thread uses it.
 */
final class Sampler {

    private static final int MAX_THREADS = 32;
    private static final int MAX_CALLS = 2_048;
    private static final int MAX_SAMPLES = 64; // the maximum number of samples per call
    private static final long KEPT_NANOS = TimeUnit.SECONDS.toNanos(60);

    private final RunQueue runQueue;
    private final Map<CallLedger, Samples> samples = new IdentityHashMap<>();
    private final TaskWatch tasks = new TaskWatch();
    private final ClassInitializers initializers = new ClassInitializers();
    private final Random random = new Random(1);
    private long lookNanos; // the duration of the last sample, in nanoseconds

    /** The samples of one call, oldest first. */
    static final class Samples {
        final String method;
        final List<Sample> list = new ArrayList<>();
        // whether the call's thread ran a task that it had submitted to a full executor
        boolean ranRejectedTask;
        int httpLooks; // the number of samples during HTTP exchanges
        int httpWaits; // the number of these samples in which the thread waited for a connection
        int httpConnects; // the number of these samples in which the thread opened a connection

        Samples(String method) {
            this.method = method;
        }

        /**
         * Adds a sample. A wait for the initialization of a class is recognized only in the second sample. The first
         * sample is then changed to the same wait.
         */
        void add(Sample sample) {
            Sample before = list.isEmpty() ? null : list.get(list.size() - 1);
            boolean awaits = sample.part().kind() == Part.Kind.CLASS_INITIALIZATION && sample.owner() != null;
            if (awaits && before != null && before.isComputing()) {
                list.set(list.size() - 1, before.waitingAs(sample));
            }
            list.add(sample);
        }

        void addStack(Phase phase, ThreadLook thread) {
            ranRejectedTask |= StackReader.runsRejectedTask(thread);
            // The exchange of a client that is not measured is known only from the stack.
            boolean isSeen = !list.isEmpty() && list.get(list.size() - 1).part().kind() == Part.Kind.HTTP;
            if (phase == Phase.HTTP || isSeen) {
                httpLooks++;
                httpWaits += StackReader.waitsForHttpConnection(thread) ? 1 : 0;
                httpConnects += NewConnections.isOpening(thread) ? 1 : 0;
            }
        }

        long last() {
            return list.get(list.size() - 1).atNanos();
        }
    }

    Sampler(RunQueue runQueue) {
        this.runQueue = runQueue;
    }

    /**
     * Returns the pause before the next sample. The pause varies from 60 to 140 ms, so that the samples do not coincide
     * with periodic work.
     */
    long pauseNanos() {
        return Math.max(TimeUnit.MILLISECONDS.toNanos(60 + random.nextInt(80)), lookNanos * 100);
    }

    /** Samples the threads of the calls that have run longest, and of some randomly chosen calls. */
    void look(List<RunningCall> running, long now) {
        List<RunningCall> chosen = choose(running);
        Map<Long, ThreadLook> looks = read(chosen);
        Map<Long, Phase> phases = new HashMap<>(); // the phases of all running calls, by thread id
        running.forEach(call -> phases.put(call.threadId(), call.phase()));
        boolean waits = running.stream().anyMatch(Sampler::waitsWithoutThread);
        Map<Long, ThreadLook> awaited = initializers.awaited(looks.values(), now);
        for (RunningCall call : chosen) {
            ThreadLook thread = looks.get(call.threadId());
            if (thread != null) {
                waits |= add(call, sample(call, thread, awaited.get(thread.id()), phases, now));
                Samples known = samples.get(call.ledger());
                if (known != null) {
                    known.addStack(call.phase(), thread);
                }
            }
        }
        if (waits) {
            tasks.look(phases.keySet(), now);
        }
        forget(now);
        lookNanos = System.nanoTime() - now;
    }

    private static boolean waitsWithoutThread(RunningCall call) {
        return call.threadId() == RunningCall.NO_THREAD && call.phase() == Phase.UNATTRIBUTED;
    }

    /**
     * Chooses calls that have a thread. Half of the chosen calls are the calls that have run longest; the rest are
     * chosen at random.
     */
    private List<RunningCall> choose(List<RunningCall> running) {
        List<RunningCall> all = new ArrayList<>();
        for (RunningCall call : running) {
            if (call.threadId() != RunningCall.NO_THREAD && call.phase() != Phase.QUEUE) {
                all.add(call);
            }
        }
        if (all.size() <= MAX_THREADS) {
            return all;
        }
        all.sort((one, other) -> Long.compare(other.runningNanos(), one.runningNanos()));
        List<RunningCall> rest = all.subList(MAX_THREADS / 2, all.size());
        Collections.shuffle(rest, random);
        return all.subList(0, MAX_THREADS);
    }

    private static Map<Long, ThreadLook> read(List<RunningCall> calls) {
        Map<Long, ThreadLook> looks = ThreadLooks.of(
                calls.stream().mapToLong(RunningCall::threadId).distinct().toArray());
        for (RunningCall call : calls) {
            ThreadLook virtual = looks.containsKey(call.threadId()) ? null : virtual(call);
            if (virtual != null) {
                looks.put(call.threadId(), virtual);
            }
        }
        return looks;
    }

    /** Reads the stack of a virtual thread. The JVM does not report the stacks of virtual threads by thread id. */
    private static @Nullable ThreadLook virtual(RunningCall call) {
        Thread thread = call.ledger().thread();
        if (thread.getId() != call.threadId()) {
            return null;
        }
        StackTraceElement[] frames = thread.getStackTrace();
        return frames.length == 0
                ? null
                : new ThreadLook(thread.getName(), thread.getId(), thread.getState(), frames, null, null, -1, -1);
    }

    /**
     * @param initializer the thread that initializes the class for which the call's thread waits; null if the call's
     *     thread waits for no class
     */
    private Sample sample(
            RunningCall call, ThreadLook thread, @Nullable ThreadLook initializer, Map<Long, Phase> phases, long now) {
        ThreadLook owner = initializer == null ? StackReader.lastOwner(thread) : initializer;
        String initialized = initializer == null ? null : StackReader.initialized(initializer);
        Part part = initialized == null
                ? LibraryWaits.ofCall(StackReader.read(thread), call.phase(), thread)
                : new Part(Part.Kind.CLASS_INITIALIZATION, initialized);
        return new Sample(
                now,
                call.phase(),
                part,
                JdkLocks.isNeverReleased(part) ? StackReader.path(thread) : path(thread, initializer, owner),
                StackReader.called(initializer == null ? thread : initializer),
                owner == null ? null : StackReader.first(initializer == null ? owner : thread),
                owner == null ? null : owner.name(),
                StackReader.isResolver(thread),
                owner == null ? null : phases.get(owner.id()),
                thread.cpuNanos(),
                runQueue.of(call.ledger().thread()).delayNanos());
    }

    private static List<StackTraceElement> path(
            ThreadLook thread, @Nullable ThreadLook initializer, @Nullable ThreadLook owner) {
        if (initializer != null) {
            return StackReader.path(initializer);
        }
        return owner == null ? StackReader.path(thread) : StackReader.holderPath(thread);
    }

    /**
     * Adds a sample to the call's samples.
     *
     * @return whether the call waits for another thread's result, or for a lock whose owner the JVM does not report
     */
    private boolean add(RunningCall call, Sample sample) {
        Samples known = samples.get(call.ledger());
        if (known == null) {
            if (samples.size() >= MAX_CALLS) {
                return false;
            }
            known = new Samples(call.method());
            samples.put(call.ledger(), known);
        }
        if (known.list.size() < MAX_SAMPLES) {
            known.add(sample);
        }
        boolean isLock = sample.part().kind() == Part.Kind.LOCK && sample.owner() == null;
        return call.phase() == Phase.OWN
                && (isLock || sample.part().kind() == Part.Kind.RESULT || LibraryWaits.isOwnPool(sample.part()));
    }

    private void forget(long now) {
        samples.values().removeIf(call -> now - call.last() > KEPT_NANOS);
    }

    /** Returns the samples of each call that was sampled within the last minute, by the call's ledger. */
    Map<CallLedger, Samples> samples() {
        return samples;
    }

    /** Returns the samples of threads that serve no call, taken while calls waited for them. */
    TaskWatch tasks() {
        return tasks;
    }

    void clear() {
        samples.clear();
        tasks.clear();
        initializers.clear();
    }
}
