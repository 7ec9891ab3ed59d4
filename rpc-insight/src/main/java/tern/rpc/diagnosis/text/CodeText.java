package tern.rpc.diagnosis.text;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.cause.CauseDescription;
import tern.rpc.diagnosis.excess.Deadlocks;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.excess.RepeatedOperations;
import tern.rpc.diagnosis.failure.FailurePart;
import tern.rpc.diagnosis.failure.FailureText;
import tern.rpc.diagnosis.machine.ChildProcesses;
import tern.rpc.diagnosis.machine.FullDisks;
import tern.rpc.diagnosis.pool.PoolVerdict;
import tern.rpc.diagnosis.rule.AwaitedWork;
import tern.rpc.diagnosis.rule.BlockedLoops;
import tern.rpc.diagnosis.rule.SteppedWaits;
import tern.rpc.diagnosis.rule.UnknownExecutors;
import tern.rpc.diagnosis.sample.ExecutorNames;
import tern.rpc.diagnosis.sample.SampledCall;
import tern.rpc.diagnosis.sample.TaskSamples;
import tern.rpc.diagnosis.stack.Hints;
import tern.rpc.diagnosis.stack.StackReader;
import tern.rpc.pool.ApplicationCode;

/** Creates the cause descriptions for application code, such as code that waits, fails or writes log lines. */
final class CodeText {

    /**
     * Code counts as sleeping repeatedly only if at least {@value} sleeps begin between consecutive samples. The sleeps
     * of all calls that run the code are added.
     */
    private static final int MIN_REPEATED = 3;

    /**
     * Matches Redis commands that take a lock, or that check whether another process holds it, as Spring's cache does
     * before each access.
     */
    private static final Pattern LOCK_COMMANDS = Pattern.compile("^SET|^EXISTS .*[Ll]ock");

    /** The kinds of work that take a long time even if no other task occupies the executor. */
    private static final Set<Part.Kind> OUTSIDE = EnumSet.of(Part.Kind.RESOLVER, Part.Kind.FILE, Part.Kind.SOCKET);

    /** The advice for code that sleeps because it limits the rate of calls. */
    private static final String QUOTA = "if it limits the rate of calls, raise its limit, or refuse calls at once";

    /**
     * Matches the first word of a line of evidence, such as {@code never} or {@code equal}, with the spaces after it.
     */
    static final String WORD = "^\\S+\\s+";

    private final Evidence evidence;
    private final ExcessTime excess;
    private final ExecutorText executors;
    private final Operations operations;
    private final AwaitedWork work;
    private final Map<String, PoolVerdict> pools;

    CodeText(
            Evidence evidence,
            ExcessTime excess,
            ExecutorText executors,
            Operations operations,
            AwaitedWork work,
            Map<String, PoolVerdict> pools) {
        this.evidence = evidence;
        this.excess = excess;
        this.executors = executors;
        this.operations = operations;
        this.work = work;
        this.pools = pools;
    }

    CauseDescription describe(Part part) {
        StackTraceElement line = excess.samples.lineOf(part);
        String executor = line == null ? evidence.tasks().executorIn(part) : null;
        TaskSamples tasks = executor == null ? null : evidence.tasks().executor(executor);
        if (executor != null && tasks != null) {
            return task(part, executor, tasks);
        }
        String calls = excess.samples.shownLineOf(part);
        String place = calls != null ? calls : line == null ? part.name() : ApplicationCode.shown(line);
        if (part.kind() == Part.Kind.LOCK) {
            return new LockText(evidence, excess)
                    .describe(part, place, line, excess.samples.owners().ownersWorkIn(part));
        }
        String called = excess.samples.calledIn(part);
        if (part.kind() == Part.Kind.CLASS_INITIALIZATION) {
            return initialization(part, called == null ? place : place + " (" + called + ")", line);
        }
        if (part.kind() == Part.Kind.RESULT && called != null && ChildProcesses.isWait(called)) {
            String process = ChildProcesses.youngest();
            String name = process == null ? "used in " + part.name() : process;
            return childProcess(name, process == null ? "it" : process, "the call waits for its end in " + place, line);
        }
        CauseDescription description =
                describe(part, called == null ? place : place + " (" + called + ")" + Hints.waiting(called), line);
        if (called == null) {
            return description;
        }
        List<String> facts = new ArrayList<>(description.facts());
        facts.add("calls    " + called);
        return new CauseDescription(description.kind(), description.name(), description.change(), facts);
    }

    private CauseDescription describe(Part part, String place, @Nullable StackTraceElement line) {
        return switch (part.kind()) {
            case SLEEP -> sleep(part, place, line);
            case RESULT -> new ResultText(evidence, excess, executors, work).describe(part, place, line);
            case FILE -> file(part, place, line);
            case SOCKET -> socket(part, place, line);
            case EVENT_LOOP -> eventLoop(part, place);
            case RESOLVER -> lookup(part, place, line);
            case CLASS_LOADING ->
                code(
                        "CLASS LOADING",
                        part.name(),
                        "load the class before the first call; if each call creates a class loader, proxy, script or"
                                + " mapper, create it once and keep it: in " + place,
                        line);
            case CLASS_INITIALIZATION -> initialization(part, place, line);
            case NATIVE -> code("NATIVE CODE", part.name(), standing(place, line), line);
            case ELSEWHERE -> AsynchronousResults.describe(evidence, excess, part, line);
            default -> {
                String refused = new SkippedOperations(evidence, excess, operations).advice(part);
                boolean isDiskFull = part.name().contains("No space left on device");
                String where = isDiskFull ? FullDisks.text() : DeepRecursions.callerOf(part, excess);
                yield new CauseDescription(
                        "FAILURE",
                        part.name(),
                        Change.of(Where.CODE, refused == null ? FailureText.own(part.name()) + where : refused),
                        List.of());
            }
        };
    }

    /** Returns the cause for calls that wait for an executor's tasks: the given activity of these tasks. */
    private CauseDescription task(Part part, String executor, TaskSamples tasks) {
        if (part.kind() == Part.Kind.EVENT_LOOP) {
            return BlockedLoops.describe(part, shown(part, tasks), executor);
        }
        TaskSamples.LockOwner owner = tasks.lockOwners.get(part);
        if (owner != null) {
            String wanted = ", wanted in " + (tasks.isExecutor ? "tasks of " : "threads ") + executor;
            return new LockText(evidence, excess)
                    .describe(part, ApplicationCode.shown(owner.line()) + wanted, owner.line(), owner.work());
        }
        StackTraceElement line = tasks.lines.get(part);
        String place = shown(part, tasks) + (tasks.isExecutor ? ", in tasks of " : ", in threads ") + executor;
        CauseDescription description = part.kind() == Part.Kind.LOCK
                ? new LockText(evidence, excess).describe(part, place, line, null)
                : describe(part, place, line);
        if (part.kind() == Part.Kind.LOCK || part.kind() == Part.Kind.RESULT) {
            return description;
        }
        List<String> facts = new ArrayList<>(description.facts());
        PoolVerdict pool = work.poolOf(executor);
        if (pool != null && pool.isSlower()) {
            facts.add("tasks    of " + pool.name() + " take "
                    + Times.millis(pool.pool().holdNanos()) + " ms each, usually "
                    + Times.millis(pool.pool().usualHoldNanos()) + " ms");
        }
        if (!tasks.isFull()) {
            return new CauseDescription(description.kind(), description.name(), description.change(), facts);
        }
        facts.add("threads  " + 100 * tasks.busy / tasks.looks + " % of the threads of " + executor + " are busy");
        if (pool == null) {
            facts.addAll(UnknownExecutors.origin(tasks, null));
        }
        if (OUTSIDE.contains(part.kind()) && !executor.equals(ExecutorNames.COMMON_THREADS)) {
            return new CauseDescription(description.kind(), description.name(), description.change(), facts);
        }
        return new CauseDescription(
                "SLOW TASKS",
                executor + " in " + part.name(),
                Change.of(Where.CODE, description.change().text() + "; or use a separate executor for tasks that wait"),
                facts);
    }

    /**
     * Returns the line of application code that runs the given activity of a task, together with the line that called
     * it.
     */
    static String shown(Part part, TaskSamples tasks) {
        StackTraceElement line = tasks.lines.get(part);
        StackTraceElement caller = tasks.callers.get(part);
        String called = tasks.called.get(part);
        return (line == null ? part.name() : ApplicationCode.shown(line))
                + (called == null ? "" : " (" + called + ")")
                + (caller == null ? "" : ", called from " + ApplicationCode.shown(caller));
    }

    /**
     * Returns the cause description for a sleep in application code. After a failed operation, the sleep is a pause
     * before a retry.
     */
    private CauseDescription sleep(Part part, String place, @Nullable StackTraceElement line) {
        RepeatedOperations repeated = new RepeatedOperations(excess, operations);
        RepeatedOperations.Failed failing = repeated.failedIn(part);
        RepeatedOperations.Polled polled = repeated.polledIn(part);
        if (failing == null && polled != null) {
            return polling(part, polled, place, line);
        }
        if (failing != null) {
            return retry(failing, place, excess.samples.calledIn(part));
        }
        if (sleepsRepeatedly(part)) {
            return code(
                    "CODE POLLS",
                    part.name(),
                    "calls sleep repeatedly in " + place
                            + ": if the code waits until something happens, find out why"
                            + " it comes late, and wait for a signal (a condition, a future, a message) instead of the"
                            + " loop; " + QUOTA + "; otherwise do not sleep in calls" + unmeasured(part),
                    line);
        }
        String called = excess.samples.calledIn(part);
        return code(
                "CODE SLEEPS",
                part.name(),
                (called == null || isOwnSleep(called)
                                ? "do not sleep in " + place
                                        + (Hints.waiting(called).isEmpty() ? "; " + QUOTA : "")
                                : called + " sleeps in " + place
                                        + ": find out which failed operation it repeats or which limit"
                                        + " it waits for, or configure fewer and shorter pauses")
                        + unmeasured(part),
                line);
    }

    /**
     * Returns whether calls slept repeatedly during the given activity or wait. In at least half of the pairs of
     * consecutive samples, a new sleep must have begun between the two samples.
     */
    private boolean sleepsRepeatedly(Part part) {
        long pairs = 0;
        long sleeps = 0;
        for (ExcessTime.Counted counted : excess.accounts) {
            SampledCall samples = evidence.samples().get(counted.call().ledger());
            if (samples != null && counted.times().of(part) > 0) {
                pairs += samples.sleepingPairs;
                sleeps += samples.sleeps;
            }
        }
        return sleeps >= MIN_REPEATED && 2 * sleeps >= pairs;
    }

    private static boolean isOwnSleep(String called) {
        return called.endsWith(".sleep") || called.startsWith("LockSupport.");
    }

    /** @param called the method that the application calls to sleep; null if it is unknown */
    private CauseDescription retry(RepeatedOperations.Failed failing, String shown, @Nullable String called) {
        List<String> facts = new ArrayList<>();
        facts.add("sleeps   " + shown);
        facts.add("failed   " + failing.name());
        String pause = called == null || isOwnSleep(called)
                ? "; do not sleep within a call: the code sleeps before it tries again, in " + shown
                : "; configure fewer and shorter retries: " + called + " sleeps before it tries again, in " + shown;
        CauseDescription deadlock = Deadlocks.isEnded(failing.name())
                ? new Deadlocks(excess, operations).of(OperationNames.withoutStatus(failing.name()), "", facts)
                : null;
        if (deadlock != null) {
            Change change =
                    Change.of(deadlock.change().where(), deadlock.change().text() + pause);
            return new CauseDescription(deadlock.kind(), deadlock.name(), change, deadlock.facts());
        }
        Part reason = FailurePart.ofOperation(failing.phase(), failing.name());
        return switch (reason.kind()) {
            case FAILURE ->
                new CauseDescription(
                        "FAILURE", reason.name(), Change.of(Where.CODE, FailureText.own(reason.name()) + pause), facts);
            case PEER_FAILS ->
                new CauseDescription(
                        "PEER FAILS",
                        reason.name(),
                        Change.of(Where.PEER, FailureText.ofPeer(reason.name()) + pause),
                        facts);
            default ->
                new CauseDescription(
                        "PEER FAILS",
                        reason.name(),
                        Change.of(Where.PEER, "find out why " + reason.name() + " fails" + pause),
                        facts);
        };
    }

    /**
     * Returns the cause description for code that polls: the code waits for another thread or process by repeating an
     * operation, with sleeps in between.
     */
    private static CauseDescription polling(
            Part part, RepeatedOperations.Polled polled, String place, @Nullable StackTraceElement line) {
        String attempts = Math.round(polled.attempts()) + " times " + polled.name() + " per call, in " + place;
        boolean isLock = polled.phase() == Phase.REDIS
                && LOCK_COMMANDS.matcher(polled.name()).find();
        return code(
                "CODE POLLS",
                part.name() + " for " + polled.name(),
                isLock
                        ? "another client holds this lock in Redis: hold it for less time there, let it expire, or"
                                + " give up sooner instead of trying " + attempts
                        : "find out what the code waits for, and why it comes late; wait for a signal (a message, a"
                                + " callback) instead of trying " + attempts,
                line);
    }

    /**
     * Returns text about an HTTP or Redis client that Tern does not measure, if the class whose code sleeps also uses
     * such a client; an empty string otherwise.
     */
    private String unmeasured(Part sleep) {
        String type = sleep.name().substring(0, sleep.name().lastIndexOf('.') + 1);
        return excess.account.longestFirst().stream()
                .filter(part -> part.name().startsWith(StackReader.CALLED + type))
                .map(CodeText::unmeasuredClient)
                .filter(hint -> !hint.isEmpty())
                .findFirst()
                .orElse("");
    }

    private static String unmeasuredClient(Part part) {
        return switch (part.kind()) {
            case HTTP ->
                "; if it sleeps before it repeats a request, find out why the request " + part.name()
                        + " fails (its client is not measured)";
            case REDIS ->
                "; if it sleeps before it tries again to lock a key of Redis, another client holds this lock: hold it"
                        + " for less time there, or let it expire (the Redis client " + part.name()
                        + " is not measured)";
            default -> "";
        };
    }

    private CauseDescription lookup(Part part, String place, @Nullable StackTraceElement line) {
        String hosts = new LookedUpHosts(evidence, excess, pools).text();
        return code(
                "SLOW NAME LOOKUP",
                part.name(),
                "check the DNS resolver of this machine" + (hosts.isEmpty() ? "" : ", which is slow for " + hosts)
                        + "; the lookups are in " + place + SteppedWaits.ofLookups(excess, part),
                line);
    }

    private CauseDescription socket(Part part, String place, @Nullable StackTraceElement line) {
        String stepped = SteppedWaits.change(evidence, excess, part, place, excess.samples.calledIn(part));
        return code(
                "SLOW SOCKET",
                part.name(),
                stepped == null
                        ? "check the peer that " + place + " talks to, or set a shorter timeout"
                        : stepped,
                line);
    }

    private CauseDescription file(Part part, String place, @Nullable StackTraceElement line) {
        String process = ChildProcesses.youngest();
        boolean isRead = place.contains("InputStream.") || place.contains("Reader.");
        return isRead && process != null
                ? childProcess(process, process, "its output is read in " + place, line)
                : code(
                        "SLOW FILE",
                        part.name(),
                        "do not access files in calls, or check the disk or the process whose output is read: " + place
                                + Hints.file(place),
                        line);
    }

    private CauseDescription eventLoop(Part part, String place) {
        String loop = BlockedLoops.loopOf(part, evidence, excess);
        return BlockedLoops.describe(part, place, loop == null ? "that runs it" : loop);
    }

    /** @param use how and where the call waits for the external program */
    private static CauseDescription childProcess(
            String name, String program, String use, @Nullable StackTraceElement line) {
        return code(
                "CHILD PROCESS",
                name,
                "do not wait for another program within a call: start " + program
                        + " before the call or asynchronously, or use a library; " + use,
                line);
    }

    /** Returns the advice for a thread that neither waits nor uses processor time. */
    private static String standing(String place, @Nullable StackTraceElement line) {
        boolean isNative = line == null || line.isNativeMethod() || place.endsWith(")");
        return isNative
                ? "find out why the native method in " + place + " does not return"
                : "the line " + place + " uses no processor time and shows no wait: it may wait for a class that"
                        + " another thread initializes (jcmd PID Thread.print names it), or for memory that is read"
                        + " from a disk";
    }

    /** Returns the cause description for calls waiting for a static initializer to finish. */
    private CauseDescription initialization(Part part, String place, @Nullable StackTraceElement line) {
        List<String> facts = new ArrayList<>();
        if (line != null) {
            facts.add("line     " + ApplicationCode.shown(line));
        }
        String thread = excess.samples.owners().ownerOf(part);
        if (thread != null) {
            facts.add("thread   " + thread + " runs the static initializer");
        }
        StackTraceElement waiting = excess.samples.owners().ownersLineOf(part);
        facts.add("waits    " + excess.samples.looks(part) + " samples found a call at it"
                + (waiting == null ? "" : ", most of them in " + ApplicationCode.shown(waiting)));
        return new CauseDescription(
                "CLASS INITIALIZATION",
                part.name(),
                Change.of(
                        Where.CODE,
                        "initialize " + part.name() + " when the application starts, or do the work of its static"
                                + " initializer outside of calls and with a timeout: " + place
                                + "; every use of the class waits until the initializer ends; more threads do not"
                                + " help"),
                facts);
    }

    private static CauseDescription code(String kind, String name, String change, @Nullable StackTraceElement line) {
        return new CauseDescription(
                kind,
                name,
                Change.of(Where.CODE, change),
                line == null ? List.of() : List.of("line     " + ApplicationCode.shown(line)));
    }
}
