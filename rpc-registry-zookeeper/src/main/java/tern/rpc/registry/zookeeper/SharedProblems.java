package tern.rpc.registry.zookeeper;

import java.util.HashMap;
import java.util.Map;

/**
 * Counts the watches that have the same problem with the same node, so that the problem is logged only once and not for
 * each reference. Confined to the session's thread.
 */
final class SharedProblems {

    private record Problem(String path, String why) {}

    private final Map<Problem, Integer> watches = new HashMap<>();

    /** Records that a watch has the problem, and returns whether it is the only watch with this problem. */
    boolean begin(String path, String why) {
        Problem problem = new Problem(path, why);
        boolean isFirst = !watches.containsKey(problem);
        watches.merge(problem, 1, Integer::sum);
        return isFirst;
    }

    /** Records that a watch no longer has the problem. */
    void end(String path, String why) {
        watches.computeIfPresent(new Problem(path, why), (problem, count) -> count == 1 ? null : count - 1);
    }
}
