package tern.rpc.diagnosis;

import java.lang.management.LockInfo;
import java.lang.management.ManagementFactory;
import java.lang.management.MonitorInfo;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
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
 * Samples the threads of running calls. One sample reads at most {@value #MAX_THREADS} stacks of at most {@value
 * #MAX_FRAMES} frames. The pause before the next sample is at least a hundred times as long as the last sample took.
 * Not thread-safe: only one thread uses it.
 */
final class Sampler {

    private static final int MAX_THREADS = 32;
    private static final int MAX_FRAMES = 64;
    private static final int MAX_OWNERS = 4;
    private static final int MAX_CALLS = 2_048;
    private static final int MAX_SAMPLES = 64; // the maximum number of samples per call
    private static final long KEPT_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final RunQueue runQueue;
    private final Map<CallLedger, Samples> samples = new IdentityHashMap<>();
    private final TaskWatch tasks = new TaskWatch();
    private final Random random = new Random(1);
    private long lookNanos; // how long the last sample took, in nanoseconds

    /** The samples of one call, oldest first. */
    static final class Samples {
        final String method;
        final List<Sample> list = new ArrayList<>();

        Samples(String method) {
            this.method = method;
        }

        long last() {
            return list.get(list.size() - 1).atNanos();
        }
    }

    Sampler(RunQueue runQueue) {
        this.runQueue = runQueue;
    }

    /**
     * Returns the pause before the next sample. The pause varies from 60 to 140 ms, so sampling does not synchronize
     * with periodic work.
     */
    long pauseNanos() {
        return Math.max(TimeUnit.MILLISECONDS.toNanos(60 + random.nextInt(80)), lookNanos * 100);
    }

    /** Samples the threads of the calls that have run longest, and of some other calls. */
    void look(List<RunningCall> running, long now) {
        List<RunningCall> chosen = choose(running);
        Map<Long, ThreadLook> looks = read(chosen);
        Map<Long, Phase> phases = new HashMap<>(); // the phases of all running calls, by thread id
        running.forEach(call -> phases.put(call.threadId(), call.phase()));
        boolean waits = false;
        for (RunningCall call : chosen) {
            ThreadLook thread = looks.get(call.threadId());
            if (thread == null) {
                thread = virtual(call);
            }
            if (thread != null) {
                waits |= add(call, thread, phases, now);
            }
        }
        if (waits) {
            tasks.look(phases.keySet(), now);
        }
        forget(now);
        lookNanos = System.nanoTime() - now;
    }

    /**
     * Chooses calls among those that have a thread. Half of the chosen calls are those that have run longest; the rest
     * are chosen at random.
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

    private Map<Long, ThreadLook> read(List<RunningCall> calls) {
        return looks(calls.stream().mapToLong(RunningCall::threadId).distinct().toArray());
    }

    /**
     * Reads the current stacks of these platform threads, and of the threads that own the locks for which they wait.
     */
    static Map<Long, ThreadLook> looks(long[] ids) {
        Map<Long, ThreadInfo> infos = new HashMap<>();
        long[] wanted = ids;
        for (int depth = 0; depth <= MAX_OWNERS && wanted.length > 0; depth++) {
            List<Long> owners = new ArrayList<>();
            // Monitors are read only from lock owners, to find the frames that hold the monitors.
            boolean monitors = depth > 0;
            for (ThreadInfo info : THREADS.getThreadInfo(wanted, monitors, false, MAX_FRAMES)) {
                if (info != null) {
                    infos.put(info.getThreadId(), info);
                    long owner = info.getLockOwnerId();
                    if (owner >= 0 && !infos.containsKey(owner) && !owners.contains(owner)) {
                        owners.add(owner);
                    }
                }
            }
            wanted = owners.stream()
                    .mapToLong(Long::longValue)
                    .limit(MAX_THREADS)
                    .toArray();
        }
        Map<Long, ThreadLook> looks = new HashMap<>();
        for (long id : ids) {
            ThreadInfo info = infos.get(id);
            if (info != null) {
                looks.put(id, look(info, infos, MAX_OWNERS, null));
            }
        }
        return looks;
    }

    /** @param held the lock that this thread holds and for which another thread waits; null if no thread waits */
    private static ThreadLook look(ThreadInfo info, Map<Long, ThreadInfo> infos, int depth, @Nullable LockInfo held) {
        LockInfo lock = info.getLockInfo();
        ThreadInfo owner = depth == 0 ? null : infos.get(info.getLockOwnerId());
        return new ThreadLook(
                info.getThreadName(),
                info.getThreadId(),
                info.getThreadState(),
                info.getStackTrace(),
                lock == null ? null : lock.getClassName(),
                owner == null || owner == info ? null : look(owner, infos, depth - 1, lock),
                cpuNanos(info.getThreadId()),
                held == null ? -1 : holdsAt(info, held));
    }

    /**
     * Returns the index of the frame that entered this monitor; -1 if the lock is not a monitor or is no longer held.
     */
    private static int holdsAt(ThreadInfo owner, LockInfo held) {
        for (MonitorInfo monitor : owner.getLockedMonitors()) {
            if (monitor.getIdentityHashCode() == held.getIdentityHashCode()
                    && monitor.getClassName().equals(held.getClassName())) {
                return monitor.getLockedStackDepth();
            }
        }
        return -1;
    }

    private static long cpuNanos(long id) {
        try {
            return THREADS.getThreadCpuTime(id);
        } catch (UnsupportedOperationException e) {
            return -1;
        }
    }

    /** Reads the stack of a virtual thread. The JVM does not report such a stack by thread id. */
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
     * Adds a sample to the call's samples.
     *
     * @return whether the call waits for another thread's result
     */
    private boolean add(RunningCall call, ThreadLook thread, Map<Long, Phase> phases, long now) {
        Samples known = samples.get(call.ledger());
        if (known == null) {
            if (samples.size() >= MAX_CALLS) {
                return false;
            }
            known = new Samples(call.method());
            samples.put(call.ledger(), known);
        }
        Part part = StackReader.read(thread);
        ThreadLook owner = StackReader.lastOwner(thread);
        if (known.list.size() < MAX_SAMPLES) {
            known.list.add(new Sample(
                    now,
                    call.phase(),
                    part,
                    owner == null ? StackReader.path(thread) : StackReader.holderPath(thread),
                    StackReader.called(thread),
                    owner == null ? null : StackReader.first(owner),
                    StackReader.isResolver(thread),
                    owner == null ? null : phases.get(owner.id()),
                    thread.cpuNanos(),
                    runQueue.of(call.ledger().thread()).delayNanos()));
        }
        return call.phase() == Phase.OWN && part.kind() == Part.Kind.RESULT;
    }

    private void forget(long now) {
        samples.values().removeIf(call -> now - call.last() > KEPT_NANOS);
    }

    /** Returns the samples of each call that was sampled within the last minute, by the call's ledger. */
    Map<CallLedger, Samples> samples() {
        return samples;
    }

    /** Returns the samples of executors' tasks, taken while calls waited for results. */
    TaskWatch tasks() {
        return tasks;
    }

    void clear() {
        samples.clear();
        tasks.clear();
    }
}
