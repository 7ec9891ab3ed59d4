package tern.rpc.diagnosis.rule;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.data.LargeData;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.machine.CollectorLog;
import tern.rpc.diagnosis.machine.Machine;
import tern.rpc.diagnosis.stack.FrameworkWork;
import tern.rpc.pool.LargeReplies;

/**
 * Decides whether the garbage collector makes calls late, or whether the reason is an operation that handles so much
 * data that it causes the collector's pauses.
 */
final class CollectorRules extends Rule {

    /**
     * Large requests can be the cause of the garbage collector's pauses only if reading a request takes at least
     * {@value} of the latency target.
     */
    private static final double LARGE_OF_TARGET = 0.2;

    /** Requests count as large if reading a request takes at least {@value} times its usual time. */
    private static final double LARGE_FACTOR = 5;

    /**
     * If at least {@value} methods take longer than usual to read their requests, large requests are assumed not to
     * cause the garbage collector's pauses.
     */
    private static final int SEVERAL_METHODS = 3;

    /**
     * While the heap is filling up, the garbage collector is assumed to slow down all work only if it stops the process
     * for at least {@value} of the time.
     */
    private static final double MUCH_STOPPED = 0.1;

    /**
     * The garbage collector counts as keeping the process busy if its threads use at least {@value} of the process's
     * processor time.
     */
    private static final double MOST = 0.5;

    /** A process counts as nearly idle if it keeps fewer than {@value} processors busy. */
    private static final double NEARLY_IDLE = 0.1;

    /**
     * The garbage collector is assumed to slow down all work only if its pauses take at least {@value} of the calls'
     * extra time (above their usual time).
     */
    private static final double SHARE = 0.2;

    /** Work counts as slower if it exceeds its usual time by at least {@value} of the latency target. */
    private static final double SLOWER = 0.1;

    /**
     * All work counts as slower only if at least {@value} kinds of work became slower. If only one kind of work is
     * slower, a server may be slow.
     */
    private static final int SEVERAL_KINDS = 2;

    private static final Set<Kind> OPERATIONS = EnumSet.of(Kind.SQL, Kind.REDIS, Kind.HTTP, Kind.RPC);
    private static final Set<Kind> OWN = EnumSet.of(Kind.COMPUTING, Kind.UNEXPLAINED);

    private final LargeData data;

    CollectorRules(Rule other) {
        super(other);
        this.data = new LargeData(evidence, excess, operations);
    }

    /**
     * Attributes waits for a processor to the collector if the heap is nearly full or filling up, and the collector's
     * threads use most of the processor time. While the heap is neither nearly full nor filling up, attributes the
     * collector's pauses to operations that read much more data than usual: large requests, and results that a thread
     * spends a lot of time decoding. If the data of such an operation is known to take much memory, this also applies
     * while the heap is filling up. Does nothing if the garbage collections have a different cause.
     */
    void apply() {
        Part collector = Part.of(Kind.COLLECTOR);
        String reason = evidence.machine().collectionCause();
        boolean asked = CollectorLog.isAskedForFromOutside(reason);
        boolean other = asked || (reason != null && (reason.startsWith("System.gc") || reason.startsWith("Metadata")));
        if (asked) {
            // A tool that requests garbage collections may also count objects or write them to a file. The JVM stops
            // during this work, too.
            byCause.move(Part.of(Kind.JVM_PAUSE), collector);
        }
        boolean isCollecting =
                evidence.machine().collecting() > 0 && evidence.machine().isCollecting();
        if (isCollecting && (evidence.machine().isHeapFilling() || isDecodingSlowInMost())) {
            byCause.move(Part.of(Kind.DECODE), collector);
        }
        if (!other && evidence.machine().isHeapFilling() && isBusyCollecting()) {
            byCause.move(Part.of(Kind.RUN_QUEUE), collector);
        }
        Times large = byCause.only(part -> part.kind() == Kind.DECODE
                ? areLarge()
                : areLargeBodies(part) || returnsMuch(part) || hasLargeReply(part) || hasMoreData(part));
        // The objects of these operations are known to be a large part of the allocation.
        boolean isKnown = large.longestFirst().stream().anyMatch(this::takesMuchMemory);
        // If the calls spend more time running code than reading large data, this code probably fills the heap. The
        // collector then pauses all threads. The operations that handle large data also take longer, but they are not
        // the cause.
        boolean byCode = byCause.only(part -> part.kind() == Kind.COMPUTING && large.of(part) <= 0)
                        .sum()
                > large.sum();
        boolean isOfOperations = !byCode && !evidence.machine().isHeapFilling();
        if (byCause.of(collector) > 0 && !other && (isKnown || isOfOperations)) {
            byCause.pour(collector, large, "the garbage collector stops calls because of its memory");
        }
        if (!other) {
            passOnToFillingHeap(collector);
        }
    }

    /**
     * Attributes the work that became slower to the collector, if the heap fills up and work of several kinds became
     * slower together. The collector's pauses and its threads then slow down all work, including operations on servers
     * that are as quick as usual.
     */
    private void passOnToFillingHeap(Part collector) {
        Times slower = byCause.only(part -> (OPERATIONS.contains(part.kind()) || OWN.contains(part.kind()))
                && byCause.of(part) >= SLOWER * evidence.targetNanos());
        List<Part> parts = slower.longestFirst();
        long kinds = parts.stream()
                .map(part -> OWN.contains(part.kind()) ? Kind.COMPUTING : part.kind())
                .distinct()
                .count();
        boolean isAny = parts.stream().anyMatch(part -> OPERATIONS.contains(part.kind()));
        if (evidence.machine().isHeapFilling()
                && (evidence.machine().collecting() >= MUCH_STOPPED || isBusyCollecting())
                && byCause.of(collector) >= SHARE * byCause.sum()
                && isAny
                && kinds >= SEVERAL_KINDS) {
            Times one = new Times();
            one.add(collector, 1);
            for (Part part : parts) {
                byCause.pour(part, one, "while the heap fills, calls take longer in " + named(part));
            }
        }
    }

    /** Returns whether the collector's threads use most of the processor time of this process. */
    private boolean isBusyCollecting() {
        Machine machine = evidence.machine();
        return machine.collectorThreads() >= MOST * Math.max(NEARLY_IDLE, machine.own());
    }

    private static String named(Part part) {
        return switch (part.kind()) {
            case SQL -> part.name().isEmpty() ? "all statements" : part.name();
            case REDIS -> part.name().isEmpty() ? "all Redis commands" : part.name();
            case HTTP -> part.name().isEmpty() ? "all HTTP exchanges" : part.name();
            case RPC -> part.name().isEmpty() ? "all remote calls" : part.name();
            default -> part.kind() == Kind.COMPUTING ? part.name() : "their own code";
        };
    }

    /**
     * Returns whether the requests of at least one method are much larger than usual. One such method is enough,
     * because calls to the other methods may be late only because of the collector's pauses.
     */
    private boolean areLarge() {
        return slowlyDecoded() > 0;
    }

    /**
     * Returns whether the requests to several methods, and to at least half of the methods with late or failed calls,
     * take much longer to read than usual. The requests of many methods are unlikely to become large at the same time.
     * More likely, something else stops the threads that read the requests.
     */
    private boolean isDecodingSlowInMost() {
        long slow = slowlyDecoded();
        return slow >= SEVERAL_METHODS && 2 * slow >= excess.badByMethod().size();
    }

    /**
     * Returns the number of methods whose requests take much longer to read than usual. The time for which the reading
     * threads wait for a processor does not count.
     */
    private long slowlyDecoded() {
        Part decode = Part.of(Kind.DECODE);
        double runs = 1 - evidence.machine().waitingShare();
        return excess.badByMethod().keySet().stream()
                .filter(method -> {
                    Times usual = evidence.usual().of(method);
                    double usually = usual == null ? 0 : usual.of(decode);
                    double reads = runs * excess.meanOf(method, decode);
                    return reads >= LARGE_OF_TARGET * evidence.targetNanos() && reads >= LARGE_FACTOR * usually;
                })
                .count();
    }

    /** Returns whether calls spend much more time than usual on the bodies of web requests or answers. */
    private boolean areLargeBodies(Part part) {
        return FrameworkWork.isOfBodies(part) && byCause.of(part) >= LARGE_OF_TARGET * evidence.targetNanos();
    }

    /** Returns whether calls spend much more time than usual on a command with a large reply. */
    private boolean hasLargeReply(Part part) {
        return part.kind() == Kind.REDIS
                && !LargeReplies.sizeIn(part.name()).isEmpty()
                && byCause.of(part) >= LARGE_OF_TARGET * evidence.targetNanos()
                && operations.isSlower(part);
    }

    /**
     * Returns whether the operation transfers much more data than usual, and either calls spend much more time than
     * usual on it, or its data takes much memory. Few calls may run the operation, and the collector stops all calls.
     */
    private boolean hasMoreData(Part part) {
        return data.isLarge(part)
                && (byCause.of(part) >= LARGE_OF_TARGET * evidence.targetNanos() || data.takesMuchMemory(part));
    }

    private boolean takesMuchMemory(Part part) {
        return data.isLarge(part) && data.takesMuchMemory(part);
    }

    private boolean returnsMuch(Part part) {
        Phase phase = Operations.phase(part.kind());
        return phase != null
                && part.kind() != Kind.LOG
                && byCause.of(part) >= LARGE_OF_TARGET * evidence.targetNanos()
                && excess.samples.areReadingResults(phase);
    }
}
