package tern.rpc.diagnosis;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.Cause.Change;
import tern.rpc.diagnosis.Cause.Where;
import tern.rpc.diagnosis.Part.Kind;
import tern.rpc.pool.ApplicationCode;

/** Describes causes that concern processors, memory, and code that uses processor time. */
final class MachineText {

    /** The heap is nearly full if at least this share of it is in use after a collection. */
    static final double NEARLY_FULL = 0.85;

    private static final double MUCH_MORE = 2;
    private static final double STOLEN = 0.1;

    /**
     * The prefix of the names of the diagnosis's own threads. These threads use more processor time while calls are
     * late.
     */
    private static final String DIAGNOSIS = "rpc-diagnosis";

    /** The diagnosis names threads that allocate at least this number of bytes per second. */
    private static final double MIN_ALLOCATION = 10e6;

    /** The causes that the JVM reports for collections requested by diagnostic tools and agents. */
    private static final Set<String> TOOLS = Set.of(
            "Heap Inspection Initiated GC",
            "Heap Dump Initiated GC",
            "Diagnostic Command",
            "JvmtiEnv ForceGarbageCollection");

    private final Evidence evidence;
    private final Excess excess;
    private final DoubleSupplier codeCache;
    private final Pressure pressure;

    MachineText(Evidence evidence, Excess excess) {
        this(evidence, excess, CodeCache::share);
    }

    /** @param codeCache returns the used share of the memory for compiled code */
    MachineText(Evidence evidence, Excess excess, DoubleSupplier codeCache) {
        this.evidence = evidence;
        this.excess = excess;
        this.codeCache = codeCache;
        this.pressure = new Pressure(evidence.machine(), evidence.usual());
    }

    Told told(Part part) {
        return switch (part.kind()) {
            case COMPUTING -> computing(part);
            case DECODE -> largeRequests();
            case RUN_QUEUE -> processors();
            case THROTTLED ->
                new Told(
                        "PROCESSOR QUOTA",
                        "quota of the container",
                        Change.of(
                                Where.MACHINE,
                                "a higher CPU limit of the container, or none; it allows "
                                        + one(evidence.machine().processors()) + " processors now"),
                        withBusy(List.of(percent("stopped", evidence.machine().throttled(), "of the periods"))));
            case MEMORY -> pressure.memory();
            case DISK -> pressure.disk();
            case COLLECTOR -> collector();
            case JVM_PAUSE -> new JvmPauses(evidence).told(longestComputing());
            default ->
                new Told(
                        "PROCESS STOOD STILL",
                        "pauses from outside",
                        Change.of(
                                Where.MACHINE,
                                "what stops the process: the host, a debugger, swapping, a snapshot of the"
                                        + " machine"),
                        pressure.facts());
        };
    }

    private Told computing(Part part) {
        if (FrameworkWork.isOfBodies(part)) {
            return bodies(part);
        }
        StackTraceElement line = excess.samples.lineOf(part);
        String calls = excess.samples.shownLineOf(part);
        String called = excess.samples.calledIn(part);
        String shown = (calls == null ? part.name() : calls)
                + (called == null ? "" : ", which calls " + called + Hints.computing(called));
        List<String> facts = new ArrayList<>();
        if (line != null) {
            facts.add("line     " + ApplicationCode.shown(line));
        }
        Machine machine = evidence.machine();
        String allocated = machine.allocatesMuch() ? allocated(machine) : "";
        if (!allocated.isEmpty() && machine.isCollecting()) {
            return new Told(
                    "CODE ALLOCATES",
                    part.name(),
                    Change.of(
                            Where.CODE,
                            "fewer or smaller objects in " + shown + ": " + allocated + "; no pool size helps"),
                    withBusy(facts));
        }
        if (codeCache.getAsDouble() >= CodeCache.FULL) {
            facts.add(percent("compiled", codeCache.getAsDouble(), "of the memory for compiled code is used"));
            return new Told(
                    "CODE CACHE FULL",
                    part.name(),
                    Change.of(
                            Where.MACHINE,
                            "a larger -XX:ReservedCodeCacheSize, or less generated code (proxies, scripts, lambdas in"
                                    + " loops): the JVM has stopped compiling, so code" + " such as " + shown
                                    + " is interpreted"),
                    withBusy(facts));
        }
        String objects = allocated.isEmpty() ? "" : "; fewer or smaller objects are less work, too: " + allocated;
        return new Told(
                "CODE COMPUTES",
                part.name(),
                Change.of(Where.CODE, "less work in " + shown + objects + "; no pool size helps"),
                withBusy(facts));
    }

    private static String allocated(Machine machine) {
        return String.format(
                Locale.ROOT,
                "%.0f MB/s are allocated, usually %.0f%s",
                machine.allocatedPerSecond() / 1e6,
                machine.usuallyAllocatedPerSecond() / 1e6,
                machine.hasHumongousCollections() ? ", with arrays of more than half a region" : "");
    }

    private Told processors() {
        Machine machine = evidence.machine();
        boolean others = machine.others() > machine.own();
        Part code = longestComputing();
        Machine.Burner burner =
                machine.burners().isEmpty() ? null : machine.burners().get(0);
        List<String> facts = new ArrayList<>();
        double steal = machine.stolen().share();
        if (steal > STOLEN) {
            facts.add(percent("stolen", steal, "of the time by other virtual machines"));
            return new Told(
                    "PROCESSORS",
                    "stolen by the host",
                    Change.of(Where.MACHINE, "another host or more processors: other virtual machines take this one's"),
                    withBusy(facts));
        }
        if (!machine.isFull() && excess.samples.looks(Part.of(Kind.RUN_QUEUE)) > 0) {
            StackTraceElement pinned =
                    PinnedCarriers.line(evidence.samples().values().stream().map(samples -> samples.pinnedAt));
            return new Told(
                    "PROCESSORS",
                    "carrier threads",
                    Change.of(
                            Where.CODE,
                            (pinned == null
                                            ? ""
                                            : "do not wait in " + ApplicationCode.shown(pinned)
                                                    + ", because the virtual thread occupies its carrier thread: ")
                                    + "no blocking calls in native code or, before Java 24, in synchronized blocks:"
                                    + " virtual threads that could run find no free carrier thread, although"
                                    + " processors are free; jdk.VirtualThreadPinned events of the flight recorder"
                                    + " show the code"),
                    withBusy(facts));
        }
        String name = "own threads";
        String text;
        if (others) {
            name = "other processes";
            text = "other processes of this machine: they keep " + one(machine.others()) + " processors busy"
                    + BusyProcesses.OF_MACHINE.most();
        } else if (isBusyWithCollector()) {
            name = "threads of the collector";
            text = "fewer or smaller objects, or a larger heap: the collector keeps " + one(machine.collectorThreads())
                    + " processors busy" + allocators();
        } else if (burner != null && isBusyWith(burner)) {
            name = burner.name();
            text = "the threads " + burner.name() + "*: they keep " + one(burner.processors()) + " processors busy"
                    + (burner.place() == null ? "" : " in " + burner.place());
        } else if (code != null) {
            StackTraceElement line = excess.samples.lineOf(code);
            text = "less work in " + (line == null ? code.name() : ApplicationCode.shown(line))
                    + ", or more processors";
        } else {
            text = "more processors, or fewer calls on this machine";
        }
        return new Told("PROCESSORS", name, Change.of(others ? Where.MACHINE : Where.CODE, text), withBusy(facts));
    }

    /**
     * Returns whether most of this process's processor time is used by the garbage collector or by threads that do not
     * serve calls.
     */
    boolean isBusyWithOtherThreads() {
        List<Machine.Burner> burners = evidence.machine().burners();
        return isBusyWithCollector() || (!burners.isEmpty() && isBusyWith(burners.get(0)));
    }

    private boolean isBusyWithCollector() {
        Machine machine = evidence.machine();
        return machine.collectorThreads() > 0.5 * Math.max(0.1, machine.own());
    }

    private boolean isBusyWith(Machine.Burner burner) {
        return burner.processors() > 0.5 * Math.max(0.1, evidence.machine().own()) && !serves(burner);
    }

    /** Describes the cause of calls that are late because their requests take a long time to read. */
    private Told largeRequests() {
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
                "decode   %s ms a call%s",
                Times.millis(longest),
                usually < 0 ? "" : ", usually " + Times.millis(usually) + " ms"));
        String caller = callerOfLarge(method, longest);
        return new Told(
                "LARGE REQUESTS",
                "decoding",
                Change.of(
                        Where.PEER,
                        "smaller requests" + (method.isEmpty() ? "" : " of " + method)
                                + ", in pages or with a limit in the caller" + (caller == null ? "" : " " + caller)
                                + ": reading them takes "
                                + Times.millis(longest) + " ms a call"),
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
        for (Excess.Counted counted : excess.accounts) {
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

    /**
     * Describes bodies of web requests that take a long time to read, or answers that take a long time to write, as a
     * cause.
     */
    private Told bodies(Part part) {
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
        String time = " takes " + Times.millis(longest) + " ms a call" + Hints.computing(called);
        return new Told(
                reads ? "LARGE REQUESTS" : "LARGE ANSWERS",
                method.isEmpty() ? part.name() : method,
                reads
                        ? Change.of(
                                Where.PEER,
                                "smaller requests" + of + ", in pages or with a limit in the caller: reading them"
                                        + time)
                        : Change.of(
                                Where.CODE,
                                "smaller answers" + of + ", in pages or with fewer members: writing them" + time
                                        + "; no pool size helps"),
                withBusy(List.of(
                        String.format(Locale.ROOT, "looks    %d found a call at it", excess.samples.looks(part)))));
    }

    /** Returns the threads that allocate the most memory; null if no threads allocate much. */
    private Machine.@Nullable Burner mostAllocating() {
        return evidence.machine().burners().stream()
                .filter(burner -> !burner.name().startsWith(DIAGNOSIS))
                .max(Comparator.comparingDouble(Machine.Burner::allocatedPerSecond))
                .filter(most -> most.allocatedPerSecond() >= MIN_ALLOCATION)
                .orElse(null);
    }

    /** Describes the threads that allocate the most memory, with the code that they run. */
    private String allocators() {
        Machine.Burner most = mostAllocating();
        if (most == null) {
            return "";
        }
        Part code = longestComputing();
        StackTraceElement line = code == null ? null : excess.samples.lineOf(code);
        // The many samples of the calls are better evidence than the single sample of the thread.
        if (serves(most) && line != null) {
            return String.format(
                    Locale.ROOT,
                    "; calls allocate %.0f MB/s, look at %s first",
                    most.allocatedPerSecond() / 1e6,
                    ApplicationCode.shown(line));
        }
        return String.format(
                Locale.ROOT,
                "; %s* allocate%s, %.0f MB/s",
                most.name(),
                most.place() == null ? "" : " in " + most.place(),
                most.allocatedPerSecond() / 1e6);
    }

    static boolean serves(Machine.Burner burner) {
        return burner.name().startsWith("rpc-")
                || burner.name().startsWith("http-nio")
                || burner.name().startsWith("tomcat-handler");
    }

    private @Nullable Part longestComputing() {
        for (Part part : excess.account.longestFirst()) {
            if (part.kind() == Kind.COMPUTING) {
                return part;
            }
        }
        return null;
    }

    /** Returns whether a tool outside of the application has requested the collections with this cause. */
    static boolean isAskedForFromOutside(@Nullable String cause) {
        return cause != null && TOOLS.contains(cause);
    }

    private Told collector() {
        Machine machine = evidence.machine();
        List<String> facts = new ArrayList<>();
        facts.add(percent("paused", machine.collecting(), "of the time"));
        if (machine.live() >= 0) {
            facts.add(percent("live", machine.live(), "of the old generation after collections"));
        }
        if (machine.allocatedPerSecond() >= 0) {
            facts.add(String.format(
                    Locale.ROOT,
                    "allocates %.0f MB/s%s",
                    machine.allocatedPerSecond() / 1e6,
                    machine.usuallyAllocatedPerSecond() > 0
                            ? String.format(Locale.ROOT, ", usually %.0f", machine.usuallyAllocatedPerSecond() / 1e6)
                            : ""));
        }
        Part code = longestComputing();
        String allocators = allocators();
        String who = !allocators.isEmpty() ? allocators : code == null ? "" : "; look at " + code.name() + " first";
        String cause = machine.collectionCause();
        if (cause != null) {
            facts.add("reason   " + cause);
        }
        if (machine.live() >= NEARLY_FULL) {
            return new Told("COLLECTOR: heap nearly full", "heap", Change.of(Where.CODE, nearlyFull() + who), facts);
        }
        if (CollectorLog.STALL.equals(cause)) {
            return new Told(
                    "COLLECTOR: allocation stalls",
                    "heap",
                    Change.of(
                            Where.CODE,
                            "a larger heap than " + (Runtime.getRuntime().maxMemory() >> 20)
                                    + " MB, or fewer and smaller objects a call: threads wait until the concurrent"
                                    + " collector has freed memory" + who),
                    facts);
        }
        StackTraceElement direct = excess.samples.lineCalling("ByteBuffer.allocateDirect");
        if ("System.gc()".equals(cause) && direct != null) {
            return new Told(
                    "DIRECT MEMORY",
                    "direct buffers",
                    Change.of(
                            Where.CODE,
                            "release or reuse the direct buffers of " + ApplicationCode.shown(direct)
                                    + ", or a larger -XX:MaxDirectMemorySize: each one that does not fit makes the JVM"
                                    + " collect first"),
                    facts);
        }
        StackTraceElement asking = excess.samples.lineCalling("System.gc", "Runtime.gc");
        if ("System.gc()".equals(cause)) {
            return new Told(
                    "COLLECTOR: asked for by code",
                    "System.gc()",
                    Change.of(
                            Where.CODE,
                            "do not call System.gc()" + (asking == null ? "" : " in " + ApplicationCode.shown(asking))
                                    + ", or -XX:+DisableExplicitGC"),
                    facts);
        }
        if ("Metadata GC Threshold".equals(cause)) {
            return new Told(
                    "COLLECTOR: classes",
                    "metaspace",
                    Change.of(Where.CODE, "see what loads classes again and again; else a larger -XX:MetaspaceSize"),
                    facts);
        }
        if (isAskedForFromOutside(cause)) {
            return new Told(
                    "COLLECTOR: asked for from outside",
                    "a tool or agent",
                    Change.of(
                            Where.MACHINE,
                            "stop the tool or agent that makes this JVM collect (" + cause
                                    + "), such as jmap -histo:live,"
                                    + " jcmd GC.class_histogram, GC.heap_dump or GC.run; jcmd GC.class_histogram -all"
                                    + " counts objects without a collection"),
                    facts);
        }
        boolean more = machine.usuallyAllocatedPerSecond() > 0
                && machine.allocatedPerSecond() > MUCH_MORE * machine.usuallyAllocatedPerSecond();
        return new Told(
                more ? "COLLECTOR: more allocation" : "COLLECTOR",
                "collector",
                Change.of(Where.CODE, fewerObjects(who)),
                facts);
    }

    private String fewerObjects(String who) {
        Machine.Burner most = mostAllocating();
        if (most == null || most.place() == null || serves(most)) {
            return "fewer or smaller objects a call" + who;
        }
        return "fewer or smaller objects at a time in " + most.place() + ", where threads " + most.name()
                + "* allocate " + Math.round(most.allocatedPerSecond() / 1e6) + " MB/s";
    }

    /**
     * Returns the advice for a nearly full heap. A larger heap is recommended only if it fits within the container's
     * memory limit.
     */
    private String nearlyFull() {
        long heap = Runtime.getRuntime().maxMemory() >> 20;
        long limit = evidence.machine().second() == null
                ? -1
                : evidence.machine().second().to().memory().limitBytes() >> 20;
        String larger = limit > 0 && heap * 2 > limit * 0.75
                ? "more memory: the container's limit is " + limit + " MB"
                : "-Xmx" + heap * 2 + "m" + (limit > 0 ? " (limit " + limit + " MB)" : "");
        return "bound what is kept in memory (caches, queues, sessions); if all of it is needed, " + larger;
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

    private static String percent(String word, double share, String of) {
        return String.format(Locale.ROOT, "%-8s %.0f %% %s", word, Math.max(0, share) * 100, of);
    }

    private static String one(double value) {
        return String.format(Locale.ROOT, "%.1f", value);
    }
}
