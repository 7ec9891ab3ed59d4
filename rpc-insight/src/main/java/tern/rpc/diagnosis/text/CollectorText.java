package tern.rpc.diagnosis.text;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.cause.CauseDescription;
import tern.rpc.diagnosis.data.LargeData;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.machine.CollectorLog;
import tern.rpc.diagnosis.machine.Finalizers;
import tern.rpc.diagnosis.machine.HeapGrowth;
import tern.rpc.diagnosis.machine.Machine;
import tern.rpc.diagnosis.stack.Hints;
import tern.rpc.pool.ApplicationCode;

/** Creates the cause descriptions for the garbage collector and the heap. */
public final class CollectorText {

    private static final double MUCH_MORE = 2;

    /**
     * If the allocation rate is not higher than usual, and the objects that survive garbage collections occupy at least
     * {@value} of the heap, long pauses are attributed to these objects.
     */
    private static final double MUCH_LIVE = 0.75;

    /** The prefix of the cause kinds that say that the heap holds too many objects. */
    public static final String HEAP = "COLLECTOR: heap ";

    /** The cause that the JVM reports if code in the process requests a garbage collection. */
    public static final String REQUESTED = "System.gc()";

    /** The JVM's name for the serial collector of old objects. */
    private static final String SERIAL = "MarkSweepCompact";

    /**
     * The prefix of the causes that the JVM reports for garbage collections triggered by the data of loaded classes.
     */
    private static final String METADATA = "Metadata GC ";

    /** The end of the cause that the JVM reports for garbage collections triggered by an allocation. */
    private static final String PAUSE = " Pause";

    /**
     * JDK methods that add elements to a collection such as a list or a map. Code that mostly calls one of these
     * methods may fill the heap.
     */
    private static final Set<String> ADDS = Set.of(
            "ArrayList.add",
            "ArrayList.addAll",
            "LinkedList.add",
            "ArrayDeque.add",
            "ArrayDeque.addLast",
            "HashSet.add",
            "HashMap.put",
            "HashMap.putIfAbsent",
            "HashMap.computeIfAbsent",
            "HashMap.merge",
            "LinkedHashMap.put",
            "TreeMap.put",
            "ConcurrentHashMap.put",
            "ConcurrentHashMap.putIfAbsent",
            "ConcurrentHashMap.computeIfAbsent",
            "ConcurrentHashMap.merge",
            "ConcurrentLinkedQueue.add",
            "ConcurrentLinkedQueue.offer",
            "ConcurrentLinkedDeque.add",
            "LinkedBlockingQueue.add",
            "LinkedBlockingQueue.offer",
            "LinkedBlockingQueue.put",
            "CopyOnWriteArrayList.add",
            "Vector.add");

    private final Evidence evidence;
    private final ExcessTime excess;
    private final LargeData transfers;
    private final HeapText heap;

    CollectorText(Evidence evidence, ExcessTime excess) {
        this.evidence = evidence;
        this.excess = excess;
        this.transfers = new LargeData(evidence, excess, new Operations(excess, evidence.usual(), evidence.answers()));
        this.heap = new HeapText(
                evidence.pauses().keptObjects(),
                evidence.allocations(),
                evidence.samples().values());
    }

    CauseDescription describe() {
        Machine machine = evidence.machine();
        List<String> facts = new ArrayList<>();
        facts.add(percent("paused", machine.collecting(), "of the time"));
        if (machine.live() >= 0) {
            facts.add(percent("live", machine.live(), "of the heap is in use after collections"));
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
        String finalizers = Finalizers.pending();
        if (!finalizers.isEmpty()) {
            facts.add("finalize " + finalizers);
        }
        String cause = machine.collectionCause();
        if (cause != null) {
            facts.add("reason   " + cause);
        }
        HeapGrowth growth = machine.growth();
        if (growth != null) {
            facts.add(growth.line(machine.allocatedPerSecond()));
        }
        boolean more = machine.usuallyAllocatedPerSecond() > 0
                && machine.allocatedPerSecond() > MUCH_MORE * machine.usuallyAllocatedPerSecond();
        boolean isOnlyLive = cause != null && cause.endsWith(PAUSE) && !more && machine.live() >= MUCH_LIVE;
        if (machine.isHeapFilling() || isOnlyLive) {
            boolean isNearlyFull = isOnlyLive || machine.live() >= Machine.NEARLY_FULL;
            return new CauseDescription(
                    HEAP + (isNearlyFull ? "nearly full" : "fills"),
                    "heap",
                    keepFewer(finalizers, orComputing(threads())),
                    facts);
        }
        String data = largeData();
        String who = data != null ? data : orComputing(allocators());
        if (CollectorLog.STALL.equals(cause)) {
            return new CauseDescription(
                    "COLLECTOR: allocation stalls",
                    "heap",
                    Change.of(
                            Where.CODE,
                            "set a larger heap than " + (Runtime.getRuntime().maxMemory() >> 20)
                                    + " MB, or create fewer and smaller objects per call: threads wait until the"
                                    + " concurrent collector has freed memory" + who),
                    facts);
        }
        if (REQUESTED.equals(cause)) {
            return new RequestedCollections(machine, excess.samples).describe(facts);
        }
        if (cause != null && cause.startsWith(METADATA)) {
            boolean isThreshold = cause.equals(METADATA + "Threshold");
            return new CauseDescription(
                    "COLLECTOR: classes",
                    "metaspace",
                    Change.of(
                            Where.CODE,
                            "find out what loads classes repeatedly; otherwise raise "
                                    + (isThreshold ? "-XX:MetaspaceSize" : "-XX:MaxMetaspaceSize")
                                    + (code == null ? "" : "; check " + code.name() + " first")),
                    facts);
        }
        if (CollectorLog.isAskedForFromOutside(cause)) {
            return new CauseDescription(
                    "COLLECTOR: requested from outside",
                    "a tool or agent",
                    Change.of(
                            Where.MACHINE,
                            "stop the tool or agent that makes this JVM run the collector (" + cause
                                    + "), such as jmap -histo:live, jcmd GC.class_histogram, GC.heap_dump or GC.run;"
                                    + " jcmd GC.class_histogram -all counts objects without a collection"),
                    facts);
        }
        return new CauseDescription(
                more ? "COLLECTOR: more allocation" : "COLLECTOR",
                "collector",
                Change.of(Where.CODE, fewerObjects(who) + humongous(machine) + concurrent(collectors())),
                facts);
    }

    /** Returns the given text about allocations; if it is empty, the code that uses the most processor time in calls. */
    private String orComputing(String allocators) {
        Part code = longestComputing();
        return !allocators.isEmpty() ? allocators : code == null ? "" : "; check " + code.name() + " first";
    }

    /**
     * Returns the recommended change for a heap that is nearly full or filling up.
     *
     * @param finalizers the pending finalizers, as text; empty if there are none
     * @param who the threads that allocate most, as text
     */
    private Change keepFewer(String finalizers, String who) {
        Machine machine = evidence.machine();
        HeapGrowth growth = machine.growth();
        String data = largeData();
        boolean isKnown = data == null || !evidence.pauses().keptObjects().isEmpty();
        return Change.of(
                Where.CODE,
                (finalizers.isEmpty() ? "" : Finalizers.CHANGE + finalizers + "; ")
                        + HeapText.nearlyFull(machine)
                        + (isKnown ? keeper(who) : data)
                        + (growth == null ? "" : "; " + growth.untilFull()));
    }

    /** Returns the advice for objects that do not fit into the young generation of G1; empty if there are none. */
    private static String humongous(Machine machine) {
        return machine.hasHumongousCollections()
                ? "; build arrays and texts of more than half a region in parts, or raise -XX:G1HeapRegionSize: G1"
                        + " allocates them outside of the young generation, and each may start a collection"
                : "";
    }

    private static Stream<String> collectors() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream().map(GarbageCollectorMXBean::getName);
    }

    /**
     * Returns the advice to use a collector with shorter pauses if the JVM uses the serial collector; empty otherwise.
     *
     * @param collectors the names of the JVM's collectors
     */
    public static String concurrent(Stream<String> collectors) {
        return collectors.anyMatch(SERIAL::equals)
                ? "; or set -XX:+UseG1GC, whose pauses are shorter: this JVM uses the serial collector, which it"
                        + " chooses by itself with less than two processors or less than 1,792 MB of memory"
                : "";
    }

    /** Returns text that names an operation that transfers much more data than usual; null if there is none. */
    private @Nullable String largeData() {
        String operation = transfers.named();
        return operation == null
                ? null
                : "; first read or send less data with " + operation + ", whose data becomes most of these objects";
    }

    /**
     * Returns advice that names the code whose objects stay in the heap, or the code that uses the most processor time
     * in calls, if this code mostly adds elements to a collection. Otherwise returns the given text.
     */
    private String keeper(String otherwise) {
        String known = heap.keeper(evidence.machine());
        if (known != null) {
            return known;
        }
        Part code = longestComputing();
        String called = code == null ? null : excess.samples.calledIn(code);
        StackTraceElement line = code == null ? null : excess.samples.lineOf(code);
        return line == null || called == null || !ADDS.contains(called)
                ? otherwise
                : "; check first " + ApplicationCode.shown(line) + ", which calls " + called;
    }

    private String fewerObjects(String who) {
        Machine.Burner topAllocator = mostAllocating();
        boolean isOfCalls = transfers.named() != null
                || !evidence.pauses().allocatedObjects().isEmpty()
                || heap.grown(evidence.machine()) != null;
        if (isOfCalls || topAllocator == null || topAllocator.place() == null || topAllocator.servesCalls()) {
            return "create fewer or smaller objects per call" + who;
        }
        return "create fewer or smaller objects at the same time in " + topAllocator.place() + ", where "
                + topAllocator.shown() + " allocate " + Math.round(topAllocator.allocatedPerSecond() / 1e6) + " MB/s";
    }

    private Machine.@Nullable Burner mostAllocating() {
        return HeapText.mostAllocating(evidence.machine());
    }

    /**
     * Returns text that names the code that allocates most, if the flight recorder has found it; otherwise the method
     * whose calls allocate much more than usual; otherwise the threads with the highest memory allocation, and the code
     * that they run.
     */
    String allocators() {
        String allocated = evidence.pauses().allocatedObjects();
        if (!allocated.isEmpty()) {
            return "; check first " + allocated;
        }
        String grown = heap.grown(evidence.machine());
        return grown == null ? threads() : grown;
    }

    /** Returns text that names the threads with the highest memory allocation, and the code that they run. */
    private String threads() {
        Machine.Burner topAllocator = mostAllocating();
        if (topAllocator == null) {
            return "";
        }
        Part code = longestComputing();
        StackTraceElement line = code == null ? null : excess.samples.lineOf(code);
        String called = code == null ? null : excess.samples.calledIn(code);
        // Many samples of calls are better evidence for the allocating code than a single sample of the thread that
        // allocates most.
        if (topAllocator.servesCalls() && code != null) {
            return String.format(
                    Locale.ROOT,
                    "; calls allocate %.0f MB/s, check %s first%s",
                    topAllocator.allocatedPerSecond() / 1e6,
                    line == null ? code.name() + ofMethod(code) : ApplicationCode.shown(line),
                    called == null ? "" : ", which calls " + called + Hints.computing(called));
        }
        return "; " + HeapText.text(topAllocator);
    }

    /** Returns text that names the method whose late calls run work of a framework, such as writing of answers. */
    private String ofMethod(Part work) {
        return excess.badByMethod().keySet().stream()
                .max(Comparator.comparingDouble(method -> excess.meanOf(method, work)))
                .map(method -> " of " + method)
                .orElse("");
    }

    /** Returns the code that uses the most processor time in calls; null if calls use none. */
    @Nullable
    Part longestComputing() {
        for (Part part : excess.account.longestFirst()) {
            if (part.kind() == Kind.COMPUTING) {
                return part;
            }
        }
        return null;
    }

    static String percent(String word, double share, String of) {
        return String.format(Locale.ROOT, "%-8s %.0f %% %s", word, Math.max(0, share) * 100, of);
    }
}
