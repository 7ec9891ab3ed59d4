package tern.rpc.diagnosis.data;

import org.jspecify.annotations.Nullable;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.calls.UsualOperations;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.excess.TimesByCause;
import tern.rpc.diagnosis.machine.HeapGrowth;
import tern.rpc.diagnosis.machine.Machine;
import tern.rpc.diagnosis.stack.FrameworkWork;
import tern.rpc.diagnosis.stack.Hints;
import tern.rpc.pool.LargeReplies;
import tern.rpc.pool.ResultRows;

/**
 * Recognizes operations that transfer much more data than usual: statements with large results, commands with large
 * replies, and HTTP exchanges with large bodies. The data takes time in the code that works on it, and its objects make
 * the garbage collector run.
 */
public final class LargeData {

    /**
     * Code is assumed to process an operation's data if it spends at least {@value} of its time in calls that run the
     * operation.
     */
    private static final double MOSTLY = 0.8;

    /** The objects that an operation's data becomes take about {@value} times the memory of the data. */
    private static final double MEMORY_OF_BYTE = 5;

    /** The size of a row in bytes, as far as its memory is concerned. */
    private static final double BYTES_OF_ROW = 100;

    /** An operation is assumed to make the collector run if its objects are at least {@value} of the allocation. */
    private static final double MUCH = 0.5;

    private final Evidence evidence;
    private final ExcessTime excess;
    private final Operations operations;
    private final LargeResults results;
    private final LargeBodies bodies;

    public LargeData(Evidence evidence, ExcessTime excess, Operations operations) {
        this.evidence = evidence;
        this.excess = excess;
        this.operations = operations;
        this.results = new LargeResults(evidence, excess, operations);
        this.bodies = new LargeBodies(evidence, excess, operations);
    }

    /** Returns whether the given operation transfers much more data than usual. */
    public boolean isLarge(Part part) {
        return switch (part.kind()) {
            case SQL -> results.isLarge(part);
            case REDIS -> isNewlyLarge(part.name(), evidence) && operations.isSlower(part);
            case HTTP -> bodies.isLarge(part);
            default -> false;
        };
    }

    /** Returns whether the reply of the given Redis command is large, and usually is smaller or does not exist. */
    public static boolean isNewlyLarge(String command, Evidence evidence) {
        return !LargeReplies.sizeIn(command).isEmpty()
                && !new UsualOperations(evidence.usual()).isReliable(Phase.REDIS, command);
    }

    /**
     * Returns whether the objects that the operation's data becomes are a large part of the allocated memory, or of the
     * memory that fills the heap.
     */
    public boolean takesMuchMemory(Part part) {
        Machine machine = evidence.machine();
        HeapGrowth growth = machine.growth();
        double all = growth == null ? machine.allocatedPerSecond() : growth.keptPerSecond();
        return all > 0 && MEMORY_OF_BYTE * bytesPerSecond(part) >= MUCH * all;
    }

    private double bytesPerSecond(Part part) {
        Phase phase = Operations.phase(part.kind());
        double bytes = bytesOf(part);
        long runs = 0;
        for (ExcessTime.Counted counted : excess.accounts) {
            for (NamedTimes.Entry entry : counted.call().ledger().named()) {
                runs += entry.kind() == phase && entry.name().equals(part.name()) ? entry.count() : 0;
            }
        }
        return runs * bytes / Math.max(1, evidence.seconds());
    }

    private double bytesOf(Part part) {
        return switch (part.kind()) {
            case SQL -> Math.max(0, ResultRows.mean(LargeResults.nameOf(part))) * BYTES_OF_ROW;
            case REDIS -> LargeReplies.bytesIn(part.name());
            case HTTP -> {
                LargeBodies.Body body = bodies.large(part);
                yield body == null ? 0 : body.bytes();
            }
            default -> 0;
        };
    }

    /**
     * Returns text that names the operation of late calls whose data takes much memory, and the size of its data; null
     * if there is none.
     */
    public @Nullable String named() {
        for (Part part : excess.account.longestFirst()) {
            if (isLarge(part) && takesMuchMemory(part)) {
                return switch (part.kind()) {
                    case SQL -> part.name() + " (" + results.text(part) + ")";
                    case REDIS -> part.name();
                    default -> {
                        LargeBodies.Body body = bodies.large(part);
                        yield body == null ? part.name() : body.exchange() + " (" + body.amount() + ")";
                    }
                };
            }
        }
        return null;
    }

    /**
     * Attributes the time that code spends on the data of an operation to this operation. Code for which there is
     * specific advice, such as a search through a list, stays a separate cause.
     */
    public void passOn(TimesByCause byCause) {
        for (Part operation : excess.account.longestFirst()) {
            if (!isLarge(operation)) {
                continue;
            }
            Times one = new Times();
            one.add(operation, 1);
            for (Part part : byCause.longestFirst()) {
                boolean isWork = part.kind() == Kind.COMPUTING
                        && (FrameworkWork.isOfBodies(part)
                                || Hints.computing(excess.samples.calledIn(part))
                                        .isEmpty());
                if (isWork && isMostlyIn(part, operation)) {
                    byCause.pour(part, one, "calls work on its " + dataOf(operation) + " in " + part.name());
                }
            }
        }
    }

    private String dataOf(Part operation) {
        if (operation.kind() == Kind.SQL) {
            return "rows";
        }
        LargeBodies.Body body = bodies.large(operation);
        return body == null || body.isAnswer() ? "answer" : "request";
    }

    /** Returns whether the code mostly runs in calls that run the given operation. */
    private boolean isMostlyIn(Part code, Part operation) {
        double all = 0;
        double with = 0;
        for (ExcessTime.Counted counted : excess.accounts) {
            double nanos = counted.times().of(code);
            all += nanos;
            with += counted.times().of(operation) > 0 ? nanos : 0;
        }
        return all > 0 && with >= MOSTLY * all;
    }
}
