package tern.rpc.diagnosis.rule;

import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.excess.TimesByCause;
import tern.rpc.diagnosis.sample.TaskSamples;

/**
 * Attributes waits for other processes to application code that occupies the threads that read the answers of these
 * processes. While such code occupies the event loop of a connection, an answer that has arrived is not read. Without
 * this class, the diagnosis would name a slow peer, or asynchronous work done by unknown threads.
 */
final class LoopRules extends Rule {

    /**
     * A thread that reads answers is assumed to deliver them late if at least {@value} of its samples show application
     * code.
     */
    private static final double OCCUPIED = 0.5;

    /**
     * If calls wait for a known peer, at least {@value} of the samples of the thread that reads the answers must show
     * application code. The value is higher than {@link #OCCUPIED} for two reasons: the peer itself may be slow, and
     * many event loops usually compute for half of their time.
     */
    private static final double FULLY_OCCUPIED = 0.9;

    /** Code is assumed to cause waits if at least {@value} threads run it for each call that waits at the same time. */
    private static final double MUCH = 0.3;

    /** Waits of less than {@value} of the latency target are ignored. */
    private static final double NOTABLE = 0.1;

    private static final String LETTUCE = "lettuce-";
    private static final String CALLBACKS = "rpc-callback";

    private static final Set<Kind> DELIVERED = EnumSet.of(Kind.ELSEWHERE, Kind.HTTP, Kind.REDIS, Kind.RPC);

    LoopRules(Rule other) {
        super(other);
    }

    void apply() {
        for (Part part : byCause.longestFirst()) {
            boolean isNotable = byCause.of(part) >= NOTABLE * evidence.targetNanos();
            if (isNotable && DELIVERED.contains(part.kind())) {
                passOn(part);
            }
        }
    }

    private void passOn(Part wait) {
        String mostFrequent = null;
        TaskSamples occupied = null;
        for (Map.Entry<String, TaskSamples> entry :
                evidence.tasks().delivering().entrySet()) {
            TaskSamples group = entry.getValue();
            boolean isBusier = occupied == null || group.busyThreads() > occupied.busyThreads();
            if (mayDeliver(entry.getKey(), wait.kind()) && isBusier && explains(group, wait)) {
                mostFrequent = entry.getKey();
                occupied = group;
            }
        }
        Part code = occupied == null ? null : code(occupied, wait);
        if (code != null) {
            Times one = new Times();
            one.add(code, 1);
            byCause.pour(
                    wait,
                    one,
                    TimesByCause.WAIT_FOR + waitedFor(wait) + " until threads " + mostFrequent + "* deliver it");
        }
    }

    /** Returns whether threads with the given name may deliver the answers of the given kind of peer. */
    private static boolean mayDeliver(String threads, Kind wait) {
        return switch (wait) {
            case ELSEWHERE -> true;
            case REDIS -> threads.startsWith(LETTUCE);
            case RPC -> threads.startsWith(CALLBACKS);
            default -> !threads.startsWith(LETTUCE) && !threads.startsWith(CALLBACKS);
        };
    }

    private boolean explains(TaskSamples group, Part wait) {
        double waiting = evidence.calls().bad() / evidence.seconds() * excess.account.of(wait) / 1e9;
        double threshold = wait.kind() == Kind.ELSEWHERE ? OCCUPIED : FULLY_OCCUPIED;
        boolean isLoopFull = group.isLoop && group.busiestShare() >= threshold;
        return group.busy >= TaskSamples.MIN_BUSY && (isLoopFull || group.busyThreads() >= MUCH * waiting);
    }

    /**
     * Returns the code that occupies the threads of the given group for most of their time. Returns null if the code
     * waits for the same kind of peer as the calls: the peer may then be the slow part.
     */
    private static @Nullable Part code(TaskSamples group, Part wait) {
        if (group.parts.isEmpty()) {
            return null;
        }
        Part longest = group.parts.longestFirst().get(0);
        boolean isClear = 2 * group.parts.of(longest) >= group.parts.sum();
        return !isClear || group.blockedBy(longest) == wait.kind() ? null : longest;
    }

    private static String waitedFor(Part wait) {
        return wait.kind() == Kind.ELSEWHERE || wait.name().isEmpty() ? "an answer" : "the answer of " + wait.name();
    }
}
