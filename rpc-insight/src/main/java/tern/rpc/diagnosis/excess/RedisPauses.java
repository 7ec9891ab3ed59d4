package tern.rpc.diagnosis.excess;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.RedisCommands;
import tern.rpc.pool.LargeReplies;

/**
 * Recognizes a Redis server that another client repeatedly blocks for a short time. Only the command that a call sends
 * during such a pause waits. The next commands of the same call, and all commands of other calls, are quick, so not
 * every command is slower in late calls.
 */
final class RedisPauses {

    /** A command counts as delayed only if it takes at least {@value} ns longer than usual. */
    private static final double DELAYED_NANOS = 10e6;

    /** A command counts as delayed only if it takes at least {@value} times its usual time. */
    private static final double FACTOR = 3;

    /** The mean delay of a command is computed only if the command was delayed in at least {@value} calls. */
    private static final int MIN_CALLS = 3;

    /**
     * Pauses of the server are assumed only if at least {@value} different commands are delayed. If there are fewer,
     * the commands themselves may be slow.
     */
    private static final int MIN_COMMANDS = 3;

    /**
     * Pauses of the server are assumed only if the mean delays of the commands differ by a factor of less than
     * {@value}, because all commands wait for the same pauses.
     */
    private static final double SAME = 2;

    /**
     * Pauses of the server are assumed only if the delays make up at least {@value} of the time by which all commands
     * exceed their usual times.
     */
    private static final double MOST = 0.8;

    /** If a single command makes up more than {@value} of the delays, the command itself may be slow. */
    private static final double DOMINANT = 0.6;

    /**
     * Pauses of the server are assumed only if at least {@value} recorded calls ran commands during the miss and met
     * the target. Such calls sent their commands between the pauses.
     */
    private static final int MIN_QUICK = 3;

    private final ExcessTime excess;
    private final Operations operations;

    RedisPauses(ExcessTime excess, Operations operations) {
        this.excess = excess;
        this.operations = operations;
    }

    /** The delays of one command in late and failed calls. */
    private static final class Delays {
        private int calls;
        private double nanos;

        private double mean() {
            return nanos / calls;
        }
    }

    /**
     * Returns the delayed commands if the server was blocked repeatedly; otherwise an empty set.
     *
     * @param commands the names of the commands to compare
     */
    Set<String> delayed(Set<String> commands) {
        Map<String, Delays> delays = new HashMap<>();
        Set<String> methods = new HashSet<>();
        double all = 0;
        for (ExcessTime.Counted counted : excess.accounts) {
            for (NamedTimes.Entry entry : counted.call().ledger().named()) {
                double usually = entry.kind() == Phase.REDIS && commands.contains(entry.name())
                        ? operations.usualNamed(Phase.REDIS, entry.name())
                        : -1;
                if (usually < 0) {
                    continue;
                }
                double longer = entry.nanos() - usually * entry.count();
                all += Math.max(0, longer);
                if (longer >= DELAYED_NANOS && entry.nanos() >= FACTOR * usually * entry.count()) {
                    Delays known = delays.computeIfAbsent(entry.name(), name -> new Delays());
                    known.calls++;
                    known.nanos += longer;
                    methods.add(counted.call().method());
                }
            }
        }
        delays.values().removeIf(known -> known.calls < MIN_CALLS);
        boolean isPaused = areAlike(delays, all) && quickCalls(methods) >= MIN_QUICK;
        return isPaused ? new TreeSet<>(delays.keySet()) : Set.of();
    }

    /**
     * Returns whether different commands are delayed by about the same time, and none of them is likely to be slow
     * itself.
     */
    private static boolean areAlike(Map<String, Delays> delays, double all) {
        double sum = 0;
        double shortest = Double.MAX_VALUE;
        double longest = 0;
        Set<String> kinds = new HashSet<>();
        for (Map.Entry<String, Delays> entry : delays.entrySet()) {
            Delays known = entry.getValue();
            sum += known.nanos;
            shortest = Math.min(shortest, known.mean());
            longest = Math.max(longest, known.mean());
            kinds.add(kindOf(entry.getKey()));
            if (RedisCommands.isBlocking(entry.getKey())
                    || RedisCommands.stopsServer(entry.getKey())
                    || !LargeReplies.sizeIn(entry.getKey()).isEmpty()) {
                return false;
            }
        }
        double most = sum * DOMINANT;
        return delays.size() >= MIN_COMMANDS
                && kinds.size() > 1
                && longest < SAME * shortest
                && sum >= MOST * all
                && delays.values().stream().allMatch(known -> known.nanos <= most);
    }

    /**
     * Returns the command with the first part of its key. Keys that begin with the same part may hold values of similar
     * size.
     */
    private static String kindOf(String name) {
        int end = name.indexOf(':');
        return end < 0 ? name : name.substring(0, end);
    }

    /**
     * Returns the number of recorded calls to the given methods that ran commands and met the target during the miss.
     */
    private long quickCalls(Set<String> methods) {
        return excess.goodDuringMiss().stream()
                .filter(call -> methods.contains(call.method()))
                .filter(call -> call.ledger().count(Phase.REDIS) > 0)
                .count();
    }
}
