package tern.rpc.diagnosis.text;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.cause.CauseDescription;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.machine.BusyProcesses;
import tern.rpc.diagnosis.machine.CodeCache;
import tern.rpc.diagnosis.machine.HeapGrowth;
import tern.rpc.diagnosis.machine.Machine;
import tern.rpc.diagnosis.rule.Pressure;
import tern.rpc.diagnosis.sample.CarrierThreads;
import tern.rpc.diagnosis.sample.SampledCall;
import tern.rpc.diagnosis.sample.TaskSamples;
import tern.rpc.diagnosis.stack.FrameworkWork;
import tern.rpc.diagnosis.stack.Hints;
import tern.rpc.diagnosis.stack.PinnedCarriers;
import tern.rpc.pool.ApplicationCode;

/** Creates the cause descriptions for processors, memory, and code that uses processor time. */
public final class MachineText {

    private static final double STOLEN = 0.1;

    /** Loaded classes are mentioned only if at least {@value} samples show that the JVM loads a class. */
    private static final int MIN_CLASS_LOADS = 3;

    /** Loaded classes are mentioned only if at least one in {@value} samples shows that the JVM loads a class. */
    private static final int CLASS_LOADS_OF = 5;

    private static final String ON_CARRIERS =
            ", or run it on a few platform threads: it occupies the carrier threads, for"
                    + " which other virtual threads wait";

    private final Evidence evidence;
    private final ExcessTime excess;
    private final DoubleSupplier codeCache;
    private final Pressure pressure;
    private final CollectorText collector;

    public MachineText(Evidence evidence, ExcessTime excess) {
        this(evidence, excess, CodeCache::share);
    }

    /** @param codeCache returns the used share of the memory for compiled code */
    public MachineText(Evidence evidence, ExcessTime excess, DoubleSupplier codeCache) {
        this.evidence = evidence;
        this.excess = excess;
        this.codeCache = codeCache;
        this.pressure = new Pressure(evidence.machine(), evidence.usual());
        this.collector = new CollectorText(evidence, excess);
    }

    public CauseDescription describe(Part part) {
        return switch (part.kind()) {
            case COMPUTING -> computing(part);
            case DECODE -> largeRequests();
            case RUN_QUEUE, CARRIER -> processors();
            case THROTTLED ->
                new CauseDescription(
                        "PROCESSOR QUOTA",
                        "quota of the container",
                        Change.of(
                                Where.MACHINE,
                                "raise or remove the CPU limit of the container; it allows "
                                        + one(evidence.machine().processors()) + " processors now"),
                        withBusy(List.of(CollectorText.percent(
                                "stopped", evidence.machine().throttled(), "of the periods"))));
            case MEMORY -> pressure.memory();
            case DISK -> pressure.disk();
            case COLLECTOR -> collector.describe();
            case JVM_PAUSE -> new JvmPauses(evidence).describe(collector.longestComputing());
            default -> stoodStill(part);
        };
    }

    /**
     * Returns the cause description for pauses of the whole process in which the process neither used a processor nor
     * waited for one.
     */
    private CauseDescription stoodStill(Part part) {
        List<String> facts = new ArrayList<>();
        double longest = excess.accounts.stream()
                .mapToDouble(counted -> counted.times().of(part))
                .max()
                .orElse(0);
        long end = excess.accounts.stream()
                .mapToLong(counted -> counted.call().endedNanos())
                .max()
                .orElse(0);
        long start = end - (long) (evidence.seconds() * 1e9);
        double share = evidence.pauses().between(start, end).of(part) / (evidence.seconds() * 1e9);
        facts.add(String.format(
                Locale.ROOT,
                "stopped  for %.0f %% of the last %.0f s, up to %s ms of one call",
                Math.min(1, share) * 100,
                evidence.seconds(),
                Times.millis(longest)));
        facts.addAll(pressure.facts());
        return new CauseDescription(
                "PROCESS STOOD STILL",
                "pauses from outside",
                Change.of(
                        Where.MACHINE,
                        "find out what stops the whole process from outside: a snapshot or a migration of the virtual"
                                + " machine, a paused container, a signal (SIGSTOP), a debugger, or swapping; no change"
                                + " of the application helps"),
                facts);
    }

    private CauseDescription computing(Part part) {
        if (FrameworkWork.isOfBodies(part)) {
            return bodies(part);
        }
        StackTraceElement line = excess.samples.lineOf(part);
        String calls = excess.samples.shownLineOf(part);
        String called = excess.samples.calledIn(part);
        String threads = line == null ? evidence.tasks().executorIn(part) : null;
        TaskSamples tasks = threads == null ? null : evidence.tasks().executor(threads);
        if (threads != null && tasks != null) {
            line = tasks.lines.get(part);
            calls = CodeText.shown(part, tasks) + ofTasks(threads, tasks) + Hints.computing(tasks.called.get(part));
        }
        CarrierThreads carriers = evidence.tasks().carriers();
        boolean isOnCarriers = carriers.occupying().of(part) > 0;
        calls = calls == null ? carriers.lineOf(part) : calls;
        String loads = classLoads(part);
        String place = (calls == null ? part.name() : calls)
                + (called == null ? "" : ", which calls " + called + Hints.computing(called))
                + (loads == null
                        ? ""
                        : "; if each call creates a class loader, keep one: a new one loads all classes again");
        List<String> facts = new ArrayList<>();
        if (loads != null) {
            facts.add(loads);
        }
        if (line != null) {
            facts.add("line     " + ApplicationCode.shown(line));
        }
        if (isOnCarriers) {
            facts.add(carriers(carriers, carriers.occupying().of(part)));
        }
        Machine machine = evidence.machine();
        String allocated = machine.allocatesMuch() ? allocated(machine) : "";
        HeapGrowth growth = machine.growth();
        if (growth != null) {
            facts.add(growth.line(machine.allocatedPerSecond()));
        }
        if (!allocated.isEmpty() && machine.isCollecting()) {
            return new CauseDescription(
                    "CODE ALLOCATES",
                    part.name(),
                    Change.of(
                            Where.CODE,
                            "create fewer or smaller objects in " + place + ": " + allocated
                                    + (growth == null
                                            ? ""
                                            : ", and the heap fills: keep fewer objects there; " + growth.untilFull())
                                    + "; a different pool size does not help"),
                    withBusy(facts));
        }
        if (codeCache.getAsDouble() >= CodeCache.FULL) {
            facts.add(CollectorText.percent(
                    "compiled", codeCache.getAsDouble(), "of the memory for compiled code is used"));
            return new CauseDescription(
                    "CODE CACHE FULL",
                    part.name(),
                    Change.of(
                            Where.MACHINE,
                            "raise -XX:ReservedCodeCacheSize, or generate less code (proxies, scripts, lambdas in"
                                    + " loops): the JVM has stopped compiling, so code such as " + place
                                    + " is interpreted"),
                    withBusy(facts));
        }
        String objects =
                allocated.isEmpty() ? "" : "; fewer or smaller objects also need less processor time: " + allocated;
        return new CauseDescription(
                "CODE COMPUTES",
                part.name(),
                Change.of(
                        Where.CODE,
                        "do less work in " + place + (isOnCarriers ? ON_CARRIERS : "") + objects
                                + "; a different pool size does not help"),
                withBusy(facts));
    }

    /**
     * Returns the evidence that calls load classes while they run the given code, although classes are usually loaded
     * once; null if less than a fifth of the samples show class loading.
     */
    private @Nullable String classLoads(Part code) {
        int looks = 0;
        int loads = 0;
        for (ExcessTime.Counted counted : excess.accounts) {
            SampledCall samples = evidence.samples().get(counted.call().ledger());
            if (samples != null && counted.times().of(code) > 0) {
                looks += samples.looks;
                loads += samples.classLooks;
            }
        }
        return loads < MIN_CLASS_LOADS || CLASS_LOADS_OF * loads < looks
                ? null
                : "classes  " + loads + " of " + looks + " samples show that the JVM loads a class";
    }

    /** @param share the share of samples in which the carrier threads ran the described code */
    private static String carriers(CarrierThreads carriers, double share) {
        return String.format(
                Locale.ROOT,
                "carriers %.0f %% of them run this code while calls wait for one, %s calls on average",
                share * 100,
                one(carriers.waiting()));
    }

    /** For code that does not run on the threads that serve calls, returns text that names the threads that run it. */
    private static String ofTasks(String threads, TaskSamples tasks) {
        return tasks.isLoop
                ? ", or move it off the event loop " + threads + ", whose other requests wait for it"
                : (tasks.isExecutor ? ", in tasks of " : ", in threads ") + threads;
    }

    private static String allocated(Machine machine) {
        return String.format(
                Locale.ROOT,
                "%.0f MB/s are allocated, usually %.0f%s",
                machine.allocatedPerSecond() / 1e6,
                machine.usuallyAllocatedPerSecond() / 1e6,
                machine.hasHumongousCollections() ? ", with arrays of more than half a region" : "");
    }

    private CauseDescription processors() {
        Machine machine = evidence.machine();
        boolean others = !machine.isBusierItself();
        Part code = collector.longestComputing();
        Machine.Burner burner =
                machine.burners().isEmpty() ? null : machine.burners().get(0);
        List<String> facts = new ArrayList<>();
        Machine.Delay delay = machine.delay();
        if (delay.nanos() >= 0) {
            facts.add(String.format(
                    Locale.ROOT,
                    "waits    %s ms until a thread that serves calls gets a processor%s",
                    Times.millis(delay.nanos()),
                    delay.usualNanos() < 0 ? "" : ", usually " + Times.millis(delay.usualNanos())));
        }
        double steal = machine.stolen().share();
        if (steal > STOLEN) {
            facts.add(CollectorText.percent("stolen", steal, "of the time by other virtual machines"));
            return new CauseDescription(
                    "PROCESSORS",
                    "stolen by the host",
                    Change.of(
                            Where.MACHINE,
                            "use another host or more processors: other virtual machines take the"
                                    + " processors of this one"),
                    withBusy(facts));
        }
        if (!machine.isFull() && excess.samples.looks(Part.of(Kind.CARRIER)) > 0) {
            StackTraceElement pinned =
                    PinnedCarriers.line(evidence.samples().values().stream().map(samples -> samples.pinnedAt));
            return new CauseDescription(
                    "PROCESSORS",
                    "carrier threads",
                    Change.of(
                            Where.CODE,
                            (pinned == null
                                            ? ""
                                            : "do not wait in " + ApplicationCode.shown(pinned)
                                                    + ", because the virtual thread occupies its carrier thread: ")
                                    + "avoid blocking calls in native code and, before Java 24, in synchronized blocks:"
                                    + " runnable virtual threads find no free carrier thread, although"
                                    + " processors are free; jdk.VirtualThreadPinned events of the flight recorder"
                                    + " show the code"),
                    withBusy(facts));
        }
        String name = "own threads";
        String text;
        if (others) {
            name = "other processes";
            BusyProcesses.Busiest busiest = machine.busiest();
            text = "stop or limit other processes of this machine: they keep"
                    + " " + one(machine.others()) + " processors busy"
                    + (busiest == null ? "" : busiest.text())
                    + (busiest == null || busiest.operations() == null
                            ? ""
                            : "; find the most expensive work of this server, also for other applications");
        } else if (evidence.machine().isBusyWithCollector()) {
            name = "threads of the collector";
            text = "create fewer or smaller objects, or set a larger heap: the garbage collector keeps"
                    + " " + one(machine.collectorThreads())
                    + " processors busy" + collector.allocators();
        } else if (burner != null && evidence.machine().isBusyWith(burner)) {
            name = burner.name();
            text = "do less work in the " + burner.shown() + ": they keep " + one(burner.processors())
                    + " processors busy"
                    + (burner.place() == null ? "" : " in " + burner.place());
        } else if (code != null) {
            StackTraceElement line = excess.samples.lineOf(code);
            text = "do less work in " + (line == null ? code.name() : ApplicationCode.shown(line))
                    + ", or use more processors";
        } else {
            text = "use more processors, or send fewer calls to this machine";
        }
        return new CauseDescription(
                "PROCESSORS", name, Change.of(others ? Where.MACHINE : Where.CODE, text), withBusy(facts));
    }

    /** Returns the cause description for calls that are late because reading their requests takes a long time. */
    private CauseDescription largeRequests() {
        Part decode = Part.of(Kind.DECODE);
        String method = "";
        double longest = 0;
        double usually = -1;
        for (String name : excess.badByMethod().keySet()) {
            double nanos = excess.meanOf(name, decode);
            if (nanos > longest) {
                longest = nanos;
                method = name;
                Times usual = evidence.usual().of(name);
                usually = usual == null ? -1 : usual.of(decode);
            }
        }
        List<String> facts = List.of(String.format(
                Locale.ROOT,
                "decode   %s ms per call%s",
                Times.millis(longest),
                usually < 0 ? "" : ", usually " + Times.millis(usually) + " ms"));
        String caller = callerOfLarge(method, longest);
        return new CauseDescription(
                "LARGE REQUESTS",
                "decoding",
                Change.of(
                        Where.PEER,
                        "send smaller requests" + (method.isEmpty() ? "" : " of " + method)
                                + ", in pages or with a limit in the caller" + (caller == null ? "" : " " + caller)
                                + ": reading them takes "
                                + Times.millis(longest) + " ms per call"),
                facts);
    }

    /**
     * Returns the address that sends most of the large requests; null if it is unknown or if there is none.
     *
     * @param nanos the mean time that a late call to the method takes to read its request
     */
    private @Nullable String callerOfLarge(String method, double nanos) {
        Map<String, Integer> callers = new TreeMap<>();
        int large = 0;
        for (ExcessTime.Counted counted : excess.accounts) {
            EndedCall call = counted.call();
            if (call.method().equals(method) && counted.times().of(Part.of(Kind.DECODE)) >= nanos / 2) {
                large++;
                if (call.caller() != null) {
                    callers.merge(call.caller(), 1, Integer::sum);
                }
            }
        }
        int all = large;
        return callers.entrySet().stream()
                .filter(entry -> 2 * entry.getValue() > all)
                .map(Map.Entry::getKey)
                .findFirst()
                .orElse(null);
    }

    /** Creates the text for calls that are late because they read large request bodies or write large answers. */
    private CauseDescription bodies(Part part) {
        boolean reads = part.name().equals(FrameworkWork.READING);
        String method = "";
        double longest = 0;
        for (String name : excess.badByMethod().keySet()) {
            double nanos = excess.meanOf(name, part);
            if (nanos > longest) {
                longest = nanos;
                method = name;
            }
        }
        String of = method.isEmpty() ? "" : " of " + method;
        String called = excess.samples.calledIn(part);
        String time = " takes " + Times.millis(longest) + " ms per call" + Hints.computing(called);
        return new CauseDescription(
                reads ? "LARGE REQUESTS" : "LARGE ANSWERS",
                method.isEmpty() ? part.name() : method,
                reads
                        ? Change.of(
                                Where.PEER,
                                "send smaller requests" + of + ", in pages or with a limit in the caller: reading them"
                                        + time)
                        : Change.of(
                                Where.CODE,
                                "return smaller answers" + of + ", in pages or with fewer members: writing them" + time
                                        + "; a different pool size does not help"),
                withBusy(List.of(
                        String.format(Locale.ROOT, "samples  %d found a call there", excess.samples.looks(part)))));
    }

    private List<String> withBusy(List<String> facts) {
        Machine machine = evidence.machine();
        List<String> all = new ArrayList<>(facts);
        if (machine.own() >= 0) {
            all.add("busy     " + one(machine.own()) + " of " + one(machine.processors())
                    + " processors by this process, " + one(Math.max(0, machine.others())) + " by others");
        }
        for (Machine.Burner burner :
                machine.burners().subList(0, Math.min(3, machine.burners().size()))) {
            all.add("threads  " + burner.name() + "* (" + burner.threads() + "): " + one(burner.processors())
                    + (burner.place() == null ? "" : " in " + burner.place()));
        }
        return all;
    }

    private static String one(double value) {
        return String.format(Locale.ROOT, "%.1f", value);
    }
}
