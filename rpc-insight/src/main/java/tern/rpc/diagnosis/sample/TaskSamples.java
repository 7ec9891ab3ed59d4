package tern.rpc.diagnosis.sample;

import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.stack.CalledMethods;
import tern.rpc.diagnosis.stack.EventLoops;
import tern.rpc.diagnosis.stack.LockingCode;
import tern.rpc.diagnosis.stack.StackReader;
import tern.rpc.diagnosis.stack.TaskWaits;
import tern.rpc.diagnosis.stack.ThreadSnapshot;
import tern.rpc.pool.ApplicationCode;

/** The samples of threads that serve no call: of one executor's threads, or of other threads with a common name. */
public final class TaskSamples {

    /** The waits of busy threads are evaluated only if there are at least {@value} samples of busy threads. */
    public static final int MIN_BUSY = 4;

    /** The name prefixes of the threads that complete the futures of Tern's client and of the JDK's HTTP client. */
    private static final List<String> CALLBACKS = List.of("rpc-callback-", "HttpClient-");

    /** The name prefix of the methods that the compiler generates from lambdas. */
    private static final String LAMBDA = "lambda$";

    /** An executor counts as full if at least {@value} of its threads are running tasks. */
    private static final double FULL = 0.9;

    public final Times parts = new Times(); // the activities of the tasks, weighted by the number of their samples

    // for each activity of the tasks, the application's innermost stack frame
    public final Map<Part, StackTraceElement> lines = new HashMap<>();
    // For each activity of the tasks, the caller of the class that performs it: the innermost application frame that
    // belongs to a different class.
    public final Map<Part, StackTraceElement> callers = new HashMap<>();
    // the samples in which the application's code waits for a result directly, not through a library
    private final Times ownWaits = new Times();
    // the samples in which the thread waits for a connection of an HTTP client
    private final Times connectionWaits = new Times();
    // for each activity of the tasks, the method that the application's innermost frame called in the last sample
    public final Map<Part, String> called = new HashMap<>();
    // for each awaited lock, the work of its owner in the last sample
    public final Map<Part, LockOwner> lockOwners = new HashMap<>();
    // for each application class, the number of sampled task stacks that contain it
    public final Map<String, Integer> classes = new HashMap<>();
    // the number of samples for each method that submits tasks as lambdas, or that is the first method of a task
    private final Map<String, Integer> origins = new HashMap<>();
    // for each application class that takes items from a queue, the line where a thread waited for the next item
    final Map<String, StackTraceElement> consumers = new HashMap<>();
    // for each application class, the frames of this class in tasks that do not wait for a lock
    final Map<String, Map<Inside, Integer>> inside = new HashMap<>();
    // for each remote method that the tasks call through a Tern reference, the number of samples; the name is empty if
    // the tasks wait for the future of an asynchronous method
    private final Map<String, Integer> remote = new HashMap<>();
    // for each activity or wait that blocks an event loop, the kind of the wait
    private final Map<Part, Part.Kind> blocking = new HashMap<>();
    // for each thread that delivers answers, the number of its samples, and the number of samples in which it was busy
    private final Map<Long, double[]> byThread = new HashMap<>();
    // The ids of the threads sampled since the sample counts were last halved, and of the threads sampled between the
    // last two halvings.
    private Set<Long> threads = new HashSet<>();
    private Set<Long> earlierThreads = Set.of();
    // whether the threads belong to an executor; other threads take no tasks from a queue
    public final boolean isExecutor;
    public boolean delivers; // whether the threads deliver the answers of other processes, as event loops do
    public boolean isLoop; // whether the threads are event loops
    public int looks;
    public int busy;

    TaskSamples(boolean isExecutor) {
        this.isExecutor = isExecutor;
    }

    /** Adds a sample of a thread. If the thread is busy, the caller must also call {@link #add}. */
    void look(ThreadSnapshot thread, boolean isBusy) {
        looks++;
        busy += isBusy ? 1 : 0;
        threads.add(thread.id());
        isLoop |= EventLoops.isOne(thread);
        delivers |= isLoop || CALLBACKS.stream().anyMatch(thread.name()::startsWith);
        if (delivers) {
            double[] counts = byThread.computeIfAbsent(thread.id(), id -> new double[2]);
            counts[0]++;
            counts[1] += isBusy ? 1 : 0;
        }
    }

    /**
     * Returns the largest share of samples in which one of the threads was busy; 0 if there are too few samples of each
     * thread.
     */
    public double busiestShare() {
        return byThread.values().stream()
                .filter(counts -> counts[0] >= MIN_BUSY)
                .mapToDouble(counts -> counts[1] / counts[0])
                .max()
                .orElse(0);
    }

    /** Returns the mean number of threads that were busy at the same time. */
    public double busyThreads() {
        return looks == 0 ? 0 : (double) threads() * busy / looks;
    }

    /**
     * If the given activity blocks an event loop, returns the kind of wait that blocks it. Otherwise returns the kind
     * of the given activity.
     */
    public Part.Kind blockedBy(Part part) {
        return blocking.getOrDefault(part, part.kind());
    }

    /** Returns whether nearly all sampled threads of the executor were running a task. */
    public boolean isFull() {
        return isExecutor && isBusy();
    }

    /** Returns whether nearly all sampled threads were busy. */
    public boolean isBusy() {
        return busy >= MIN_BUSY && busy >= FULL * looks;
    }

    /** Returns the number of threads that were sampled. */
    public int threads() {
        return Math.max(threads.size(), earlierThreads.size());
    }

    /**
     * Returns whether sampled tasks call the remote method with the given name through a Tern reference. Also returns
     * true if the tasks only wait for futures of asynchronous methods, because the samples then do not show which
     * remote method was called.
     */
    public boolean callsRemotely(String method) {
        boolean isAnyKnown = remote.entrySet().stream()
                .anyMatch(entry -> entry.getValue() > 0 && !entry.getKey().isEmpty());
        return remote.getOrDefault(isAnyKnown ? method : "", 0) > 0;
    }

    /** Returns whether the sampled tasks run code in the same package as the given stack frame. */
    public boolean runsPackageOf(StackTraceElement line) {
        String wanted = packageOf(line.getClassName());
        return classes.entrySet().stream()
                .anyMatch(entry ->
                        entry.getValue() > 0 && packageOf(entry.getKey()).equals(wanted));
    }

    private static String packageOf(String type) {
        return type.substring(0, type.lastIndexOf('.') + 1);
    }

    /** Returns whether the given stack frame's class is on the stacks of sampled tasks. */
    public boolean runs(@Nullable StackTraceElement line) {
        return samplesOf(line) > 0;
    }

    /** Returns the number of task stacks that contain the class of the given stack frame. */
    public int samplesOf(@Nullable StackTraceElement line) {
        return line == null ? 0 : classes.getOrDefault(line.getClassName(), 0);
    }

    /** Returns the line of the most frequent operation of the given kind; null if there is no such operation. */
    @Nullable
    public StackTraceElement lineIn(Part.Kind kind) {
        return parts.longestFirst().stream()
                .filter(part -> part.kind() == kind && using(part) > 0)
                .max(Comparator.comparingDouble(this::using))
                .map(lines::get)
                .orElse(null);
    }

    /**
     * Returns the number of samples in which a thread used a connection for operations of the given kind. A thread that
     * waits for a connection does not use one. If most samples of these operations show such waits, returns 0, because
     * the few other samples may be older.
     */
    double using(Part.Kind kind) {
        double using = parts.longestFirst().stream()
                .filter(part -> part.kind() == kind)
                .mapToDouble(this::using)
                .sum();
        return 2 * using >= parts.sum(kind) ? using : 0;
    }

    private double using(Part part) {
        return parts.of(part) - connectionWaits.of(part);
    }

    /**
     * Returns whether application code calls the JDK directly, not through a library, in most samples of the given
     * wait.
     */
    public boolean isOwnWait(Part part) {
        return 2 * ownWaits.of(part) > parts.of(part);
    }

    /** Returns whether the tasks wait, for example for a peer, in at least half of the samples of busy threads. */
    public boolean isMostlyBlocked() {
        return 2 * parts.only(part -> part.kind() != Part.Kind.COMPUTING).sum() >= parts.sum();
    }

    /**
     * If at least half of the samples of busy threads show the same wait for a result, returns this wait. Otherwise
     * returns null.
     */
    @Nullable
    public Part waiting() {
        for (Part part : parts.longestFirst()) {
            return part.kind() == Part.Kind.RESULT && 2 * parts.of(part) >= busy && busy >= MIN_BUSY ? part : null;
        }
        return null;
    }

    /**
     * If application code waits directly for tasks or futures in at least half of the samples of busy threads, returns
     * the most frequent of these waits. Otherwise returns null.
     */
    @Nullable
    public Part waitingForTasks() {
        Times waits = parts.only(part ->
                part.kind() == Part.Kind.RESULT && isOwnWait(part) && TaskWaits.isForTaskOrFuture(called.get(part)));
        return busy >= MIN_BUSY && 2 * waits.sum() >= busy
                ? waits.longestFirst().get(0)
                : null;
    }

    /** Formats the most frequent activity of the tasks, for example {@code in Orders.export}. */
    public String mostly() {
        if (parts.isEmpty()) {
            return "";
        }
        Part longest = parts.longestFirst().get(0);
        StackTraceElement caller = callers.get(longest);
        return activity(longest) + (caller == null ? "" : ", called from " + ApplicationCode.shown(caller));
    }

    /**
     * Returns text that says where most of the tasks come from, for example {@code submitted in Orders.all}. The method
     * that submits a task is known if the task is a lambda. Returns an empty string if there are no samples.
     */
    public String origin() {
        return origins.entrySet().stream()
                .filter(entry -> entry.getValue() > 0)
                .max(Map.Entry.<String, Integer>comparingByValue().thenComparing(Map.Entry.comparingByKey()))
                .map(Map.Entry::getKey)
                .orElse("");
    }

    private static String activity(Part part) {
        if (!part.name().startsWith(StackReader.CALLED)) {
            return "in " + part.name();
        }
        String waits = switch (part.kind()) {
            case SQL -> "in a statement of ";
            case REDIS -> "in a Redis command of ";
            case LOG -> "writing log lines in ";
            default -> "waiting for a peer in ";
        };
        return waits + part.name().substring(StackReader.CALLED.length());
    }

    void halve() {
        parts.scale(0.5);
        ownWaits.scale(0.5);
        connectionWaits.scale(0.5);
        classes.replaceAll((name, samples) -> samples / 2);
        remote.replaceAll((name, samples) -> samples / 2);
        origins.replaceAll((name, samples) -> samples / 2);
        inside.values().forEach(lines -> lines.replaceAll((line, samples) -> samples / 2));
        looks /= 2;
        busy /= 2;
        byThread.values().removeIf(counts -> counts[0] < 1);
        byThread.values().forEach(counts -> {
            counts[0] /= 2;
            counts[1] /= 2;
        });
        earlierThreads = threads;
        threads = new HashSet<>();
    }

    /**
     * Adds the activity of a busy thread.
     *
     * @param isCommonPoolFull whether the common pool had no free thread
     */
    void add(ThreadSnapshot thread, List<StackTraceElement> path, boolean isCommonPoolFull) {
        Part read = CommonPool.read(thread, isCommonPoolFull);
        Part part = EventLoops.ofCall(read, thread);
        if (!part.equals(read)) {
            blocking.put(part, read.kind());
        }
        parts.add(part, 1);
        ownWaits.add(part, CalledMethods.waitsByItself(thread) ? 1 : 0);
        connectionWaits.add(part, StackReader.waitsForHttpConnection(thread) ? 1 : 0);
        String method = CalledMethods.of(thread);
        if (method != null) {
            called.put(part, method);
        }
        String remoteMethod = CalledMethods.remote(thread);
        if (remoteMethod != null) {
            remote.merge(remoteMethod, 1, Integer::sum);
        }
        lines.putIfAbsent(part, path.get(0));
        LockOwner owner = part.kind() == Part.Kind.LOCK ? LockOwner.of(thread) : null;
        if (owner != null) {
            lockOwners.put(part, owner);
        }
        StackTraceElement caller = StackReader.callerOf(path.get(0), path);
        if (caller != null) {
            callers.putIfAbsent(part, caller);
        }
        StackTraceElement outermost = path.get(path.size() - 1);
        String origin = outermost.getMethodName().startsWith(LAMBDA) ? "submitted in " : "begin in ";
        origins.merge(origin + ApplicationCode.method(outermost), 1, Integer::sum);
        path.forEach(frame -> classes.merge(frame.getClassName(), 1, Integer::sum));
        if (part.kind() != Part.Kind.LOCK) {
            int rank = Inside.rank(part.kind());
            Map<String, List<StackTraceElement>> byClass =
                    path.stream().collect(Collectors.groupingBy(StackTraceElement::getClassName));
            byClass.forEach((type, frames) -> inside.computeIfAbsent(type, name -> new HashMap<>())
                    .merge(new Inside(frames, rank), 1, Integer::sum));
        }
    }

    /**
     * Returns the lines in which tasks may hold the lock that a call waits for, with the numbers of their samples. Each
     * line belongs to the class in which the call waits.
     *
     * @param waiting the call's waiting frame
     */
    Map<Inside, Integer> mayHold(StackTraceElement waiting) {
        Map<Inside, Integer> holding = new HashMap<>();
        inside.getOrDefault(waiting.getClassName(), Map.of()).forEach((found, samples) -> {
            if (samples > 0 && LockingCode.mayHold(found.frames, waiting)) {
                holding.merge(new Inside(List.of(found.line()), found.rank), samples, Integer::sum);
            }
        });
        return holding;
    }

    /**
     * The activity of a lock's owner.
     *
     * @param line the line that holds the lock
     */
    public record LockOwner(StackTraceElement line, Part.Kind work) {

        /** Returns the owner of the lock that the thread waits for; null if it is unknown. */
        static @Nullable LockOwner of(ThreadSnapshot thread) {
            ThreadSnapshot owner = StackReader.lastOwner(thread);
            List<StackTraceElement> path = owner == null ? List.of() : StackReader.holderPath(thread);
            return owner == null || path.isEmpty()
                    ? null
                    : new LockOwner(path.get(0), StackReader.read(owner).kind());
        }
    }

    /**
     * A source line that a sampled task executed.
     *
     * @param frames the stack frames of one class, the innermost first
     * @param rank a lower rank means that the task more likely holds a lock at this line. The rank is high where the
     *     task sleeps or waits for work, because it usually does not hold the lock there
     */
    record Inside(List<StackTraceElement> frames, int rank) {

        StackTraceElement line() {
            return frames.get(0);
        }

        static int rank(Part.Kind kind) {
            return switch (kind) {
                case SLEEP -> 2;
                case RESULT -> 1;
                default -> 0;
            };
        }
    }
}
