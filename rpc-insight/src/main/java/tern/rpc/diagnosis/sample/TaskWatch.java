package tern.rpc.diagnosis.sample;

import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.stack.CalledMethods;
import tern.rpc.diagnosis.stack.LibraryWaits;
import tern.rpc.diagnosis.stack.NameLookups;
import tern.rpc.diagnosis.stack.NewHttpClients;
import tern.rpc.diagnosis.stack.StackReader;
import tern.rpc.diagnosis.stack.ThreadSnapshot;
import tern.rpc.diagnosis.stack.ThreadSnapshots;
import tern.rpc.pool.ApplicationCode;

/**
 * Samples the threads that serve no call, while calls wait for results or for locks with unknown owners. Reads at most
 * {@value OtherThreads#MAX_THREADS} stacks of platform threads, at most twice a second. Not thread-safe: only one
 * thread uses it.
 */
public final class TaskWatch {

    private static final int MAX_EXECUTORS = 32;

    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    /**
     * The interval after which the weight of all earlier samples is halved, because older samples may come from an
     * earlier period of late calls with a different cause.
     */
    private static final long HALF_LIFE_NANOS = TimeUnit.SECONDS.toNanos(5);

    /**
     * The name of the common pool's threads. The ledgers of calls do not record waits for these threads, although the
     * common pool mostly runs tasks of asynchronous calls.
     */
    private static final String COMMON_POOL = ExecutorNames.COMMON_THREADS;

    private static final Pattern NUMBERS = Pattern.compile("(-worker)?[-#\\d]+$");

    private final Map<String, TaskSamples> executors = new HashMap<>();
    // threads outside of executors, such as timer threads, by name
    private final Map<String, TaskSamples> threads = new HashMap<>();
    private final NameLookups lookups = new NameLookups();
    private final NewHttpClients clients = new NewHttpClients();
    private final VirtualTasks virtual = new VirtualTasks();
    private final CarrierThreads carriers = new CarrierThreads();
    private final SampledMoments moments = new SampledMoments();
    // the names of virtual threads that run tasks; these threads are sampled less often than platform threads
    private final Set<String> seldomSeen = new HashSet<>();
    private final OtherThreads others = new OtherThreads();
    private long next; // the time of the next sample; 0 before the first sample
    private long halved; // the time when the numbers of samples were last halved; 0 before the first sample

    /**
     * Samples threads that do not serve calls. Does nothing if the last sample was taken less than 500 ms ago.
     *
     * @param serving the ids of the threads that serve calls
     * @param callThreads the names of the groups of threads that serve calls, without the threads' numbers
     * @param areCarriersFull whether virtual threads wait for a carrier thread
     */
    public void look(Set<Long> serving, Set<String> callThreads, boolean areCarriersFull, long now) {
        if (next != 0 && now - next < 0) {
            return;
        }
        next = now + PAUSE_NANOS;
        if (halved == 0) {
            halved = now;
        } else if (now - halved >= HALF_LIFE_NANOS) {
            halved = now;
            executors.values().forEach(TaskSamples::halve);
            threads.values().forEach(TaskSamples::halve);
            lookups.halve();
            carriers.halve();
        }
        Map<Long, String> unserving = others.find(serving, clients);
        clients.looked(now);
        List<Long> chosen = others.choose(unserving, this::hasWorked);
        lookups.begin();
        boolean isCommonPoolFull = moments.isCommonPoolFull(now);
        Set<String> busy = new HashSet<>();
        ThreadSnapshots.of(chosen.stream().mapToLong(Long::longValue).toArray())
                .values()
                .forEach(thread -> add(thread, isCommonPoolFull, busy));
        unserving.keySet().removeAll(new HashSet<>(chosen));
        moments.add(now, new SampledMoments.Work(busy, new HashSet<>(unserving.values())));
        for (ThreadSnapshot thread : virtual.read(now, serving, areCarriersFull)) {
            // Skips the server's threads: each may serve a call that began after the running calls were listed.
            if (thread.name().equals(VirtualTasks.UNNAMED) || !callThreads.contains(nameOf(thread))) {
                addVirtual(thread);
            }
            if (areCarriersFull && thread.carrier() == ThreadSnapshot.Carrier.TAKEN) {
                carriers.addOther(thread);
            }
        }
    }

    private boolean hasWorked(String name) {
        TaskSamples known = executor(name);
        return known != null && known.busy > 0;
    }

    /**
     * Returns the samples of the threads that serve no call. These threads are sampled each time the threads that serve
     * calls are sampled.
     */
    public SampledMoments moments() {
        return moments;
    }

    /**
     * Returns whether every sample of the threads that serve no call includes the threads with the given name. Returns
     * false for the names of virtual threads, whose stacks are read less often.
     */
    public boolean isAlwaysSeen(String name) {
        return !seldomSeen.contains(name);
    }

    /** Returns the common name of threads: the name of the given thread without its number. */
    public static String nameOf(ThreadSnapshot thread) {
        return nameOf(thread.name());
    }

    public static String nameOf(String thread) {
        return NUMBERS.matcher(thread).replaceFirst("");
    }

    /** Adds a sample of a virtual thread that serves no call. */
    public void addVirtual(ThreadSnapshot thread) {
        String name = nameOf(thread);
        add(executors, true, thread, false, new HashSet<>());
        // If there are too many groups of threads, the sample was not added. Its name would fill the set.
        if (executors.containsKey(name)) {
            seldomSeen.add(name);
        }
    }

    /** Adds a sample of a platform thread that serves no call. */
    public void add(ThreadSnapshot thread) {
        add(thread, false, new HashSet<>());
    }

    /**
     * Adds a sample of a platform thread that serves no call.
     *
     * @param isCommonPoolFull whether the common pool had no free thread
     * @param busyNames receives the name that a group of busy threads shares, without the threads' numbers
     */
    private void add(ThreadSnapshot thread, boolean isCommonPoolFull, Set<String> busyNames) {
        lookups.add(thread, nameOf(thread));
        boolean runsTasks = runsTasks(thread);
        add(runsTasks ? executors : threads, runsTasks, thread, isCommonPoolFull, busyNames);
    }

    private static void add(
            Map<String, TaskSamples> group,
            boolean isExecutor,
            ThreadSnapshot thread,
            boolean isCommonPoolFull,
            Set<String> busyNames) {
        String name = nameOf(thread);
        TaskSamples executor = group.get(name);
        if (executor == null) {
            if (group.size() >= MAX_EXECUTORS) {
                return;
            }
            executor = new TaskSamples(isExecutor);
            group.put(name, executor);
        }
        List<StackTraceElement> path = StackReader.path(thread);
        boolean isBusy = !path.isEmpty() && !isIdle(thread, path);
        executor.look(thread, isBusy);
        if (!path.isEmpty() && !isBusy) {
            executor.consumers.put(path.get(0).getClassName(), path.get(0));
        }
        if (isBusy) {
            executor.add(thread, path, isCommonPoolFull);
            busyNames.add(name);
        }
    }

    /**
     * Returns whether the thread is a consumer that waits for the next item. A thread is a consumer if application code
     * takes an item from a queue directly, and no other class of the application is on the stack.
     */
    private static boolean isIdle(ThreadSnapshot thread, List<StackTraceElement> path) {
        String type = path.get(0).getClassName();
        String called = CalledMethods.of(thread);
        return thread.state() != Thread.State.RUNNABLE
                && called != null
                && CalledMethods.waitsByItself(thread)
                && LibraryWaits.takesFromQueue(called)
                && path.stream().allMatch(frame -> frame.getClassName().equals(type));
    }

    /** Returns the code that occupied the carrier threads of virtual threads while calls waited for one. */
    public CarrierThreads carriers() {
        return carriers;
    }

    /** Returns the JDK HTTP clients that the process creates. */
    public NewHttpClients clients() {
        return clients;
    }

    /** Returns the host name lookups by threads that serve no call. */
    public NameLookups lookups() {
        return lookups;
    }

    private static boolean runsTasks(ThreadSnapshot thread) {
        for (StackTraceElement frame : thread.frames()) {
            String type = frame.getClassName();
            if (type.equals("java.util.concurrent.ThreadPoolExecutor$Worker")
                    || type.equals("java.util.concurrent.ForkJoinWorkerThread")) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns the name of the executor or thread group that most likely computes the result that a thread waits for;
     * null if there is none. The first of the following is chosen:
     *
     * <ol>
     * <li>An executor whose tasks run code of the class in which the thread waits.
     * <li>The only executor with tasks, if its threads are mostly busy and there is evidence that its tasks complete
     * the result. No evidence is needed for the common pool, because it mostly runs tasks of calls, or if an
     * asynchronous method waits without a thread.
     * <li>A group of threads outside of executors that often run code of the class in which the thread waits.
     * </ol>
     *
     * @param line the thread's waiting frame; null if an asynchronous method waits without a thread
     * @param isConnected returns whether there is evidence that an executor's tasks complete the awaited result
     */
    @Nullable
    public String executorOf(@Nullable StackTraceElement line, Predicate<TaskSamples> isConnected) {
        String same = mostOf(executors, line, 1);
        if (same != null) {
            return same;
        }
        int busy = 0;
        String onlyBusy = null;
        for (Map.Entry<String, TaskSamples> entry : executors.entrySet()) {
            TaskSamples executor = entry.getValue();
            if (executor.busy > 0) {
                busy++;
                boolean connected = line == null || entry.getKey().equals(COMMON_POOL) || isConnected.test(executor);
                onlyBusy = connected && 2 * executor.busy >= executor.looks ? entry.getKey() : null;
            }
        }
        // A single sample of a thread in the waiting class is not sufficient evidence, so a minimum number is required.
        return busy == 1 && onlyBusy != null ? onlyBusy : mostOf(threads, line, TaskSamples.MIN_BUSY);
    }

    /**
     * Returns the threads that are rarely busy and take items from a queue in the class in which a call waits, for
     * example {@code thread door-acks in Doors.acknowledge:71}; null if there are none.
     *
     * @param waiting the call's waiting frame; null if it is unknown
     */
    @Nullable
    public String idleConsumerOf(@Nullable StackTraceElement waiting) {
        for (Map.Entry<String, TaskSamples> entry : groups().entrySet()) {
            TaskSamples group = entry.getValue();
            StackTraceElement line = waiting == null ? null : group.consumers.get(waiting.getClassName());
            if (line != null && 2 * group.busy < group.looks) {
                return "thread " + entry.getKey() + " in " + ApplicationCode.shown(line);
            }
        }
        return null;
    }

    /** Returns the samples of all threads that serve no call, by name. */
    public Map<String, TaskSamples> groups() {
        Map<String, TaskSamples> groups = new TreeMap<>(threads);
        groups.putAll(executors);
        return groups;
    }

    /** Returns the samples of the threads that deliver the answers of other processes, by name. */
    public Map<String, TaskSamples> delivering() {
        Map<String, TaskSamples> delivering = groups();
        delivering.values().removeIf(group -> !group.delivers);
        return delivering;
    }

    /**
     * Returns the group whose stacks contain the class of the given frame most often; null if there is none.
     *
     * @param min the minimum number of such stacks
     */
    private static @Nullable String mostOf(Map<String, TaskSamples> group, @Nullable StackTraceElement line, int min) {
        if (line == null) {
            return null;
        }
        String best = null;
        int maxCount = min - 1;
        for (Map.Entry<String, TaskSamples> entry : group.entrySet()) {
            int same = entry.getValue().classes.getOrDefault(line.getClassName(), 0);
            if (same > maxCount) {
                maxCount = same;
                best = entry.getKey();
            }
        }
        return best;
    }

    /** Returns the threads that most likely hold the locks that calls wait for. */
    public LockingThreads locking() {
        return new LockingThreads(this);
    }

    /** Returns the samples of an executor, or of threads outside of executors; null if there are none. */
    @Nullable
    public TaskSamples executor(String name) {
        TaskSamples executor = executors.get(name);
        return executor != null ? executor : threads.get(name);
    }

    /**
     * Returns the samples of the given pool's executor. Executors are often named after their threads or after a bean:
     * for example, threads named {@code mail} belong to {@code mailExecutor}. Returns null if no executor or several
     * executors have such a name.
     */
    @Nullable
    public TaskSamples ofPool(String pool) {
        String threads = threadsOfPool(pool);
        return threads == null ? null : executors.get(threads);
    }

    /** Returns the name of the threads of the given pool's executor, as in {@link #ofPool}. */
    @Nullable
    public String threadsOfPool(String pool) {
        String exact = ExecutorNames.threadsOf(pool);
        if (executors.containsKey(exact)) {
            return exact;
        }
        String name = pool.toLowerCase(Locale.ROOT);
        List<String> similar = executors.keySet().stream()
                .filter(threads -> !threads.isEmpty() && name.startsWith(threads.toLowerCase(Locale.ROOT)))
                .toList();
        return similar.size() == 1 ? similar.get(0) : null;
    }

    /**
     * Returns the name of the threads that serve no call and were most often found in operations of the given kind;
     * null if there are none.
     */
    @Nullable
    public String mostOftenIn(Part.Kind kind) {
        Map<String, TaskSamples> all = new TreeMap<>(threads);
        all.putAll(executors);
        return all.entrySet().stream()
                .filter(entry -> !entry.getValue().delivers && entry.getValue().using(kind) > 0)
                .max(Comparator.comparingDouble(entry -> entry.getValue().using(kind)))
                .map(Map.Entry::getKey)
                .orElse(null);
    }

    /**
     * Returns the name of the executor whose tasks were most often sampled in the given activity or wait. If there is
     * no such executor, returns the name of the threads outside of executors that were most often sampled in this
     * activity or wait; null if there are no such threads.
     */
    @Nullable
    public String executorIn(Part part) {
        String executor = mostIn(executors, part);
        return executor != null ? executor : mostIn(threads, part);
    }

    private static @Nullable String mostIn(Map<String, TaskSamples> group, Part part) {
        return group.entrySet().stream()
                .filter(entry -> entry.getValue().parts.of(part) > 0)
                .max(Comparator.comparingDouble(entry -> entry.getValue().parts.of(part)))
                .map(Map.Entry::getKey)
                .orElse(null);
    }

    void clear() {
        executors.clear();
        threads.clear();
        seldomSeen.clear();
        lookups.clear();
        clients.clear();
        carriers.clear();
        moments.clear();
        halved = 0;
    }
}
