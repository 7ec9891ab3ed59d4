package tern.rpc.diagnosis.rule;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.RedisCommands;
import tern.rpc.diagnosis.calls.Baseline;
import tern.rpc.diagnosis.data.LargeData;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.stack.StackReader;
import tern.rpc.pool.LargeReplies;
import tern.rpc.pool.OutsideOperations;

/**
 * Finds commands that block the Redis server, or whose large replies block a shared connection to it. Redis runs one
 * command at a time, so a command over many elements delays all other commands. Some commands are known to be slow.
 * Other commands count as blocking if they take much longer than the commands waiting for them.
 */
final class RedisStops {

    /** A command is assumed to delay other commands noticeably only if it takes at least {@value} ns. */
    private static final double STOPPED_NANOS = 10e6;

    /**
     * A command is assumed to block the server only if it takes at least {@value} times as long as any other command.
     */
    private static final double LONGER = 3;

    /**
     * A command is assumed to block the server only if its slowdown factor is at least {@value} of the factor of any
     * other command. The slowdown factor is the command's time divided by its usual time.
     */
    private static final double GROWTH = 0.5;

    /**
     * A command of a thread that serves no call is assumed to block the server only if it exceeds its usual time by at
     * least {@value} times the mean slowdown of the waiting commands. The slowdown of a command is its current time
     * minus its usual time. The mean covers all calls. It is smaller than the slowdown of the blocking command for two
     * reasons: not every command waits, and a waiting command waits only for the remaining part of the blocking
     * command.
     */
    private static final double LONGER_OUTSIDE = 1.5;

    private final Operations operations;
    private final Evidence evidence;

    RedisStops(Operations operations, Evidence evidence) {
        this.operations = operations;
        this.evidence = evidence;
    }

    /**
     * Returns the command of calls that blocks Redis; null if there is none. A command whose reply has become large
     * comes first: other commands may take longer in total, because more calls run them and wait for it.
     *
     * @param parts the activities and waits of late calls, the longest first
     */
    @Nullable
    Part ofCalls(List<Part> parts) {
        List<Part> stopping = parts.stream().filter(this::isStopping).toList();
        return stopping.stream()
                .filter(part -> LargeData.isNewlyLarge(part.name(), evidence))
                .findFirst()
                .orElse(stopping.isEmpty() ? null : stopping.get(0));
    }

    /**
     * Returns whether the given operation is a command that blocks Redis. Some commands are known to be slow. Returns
     * false for such a command if it is usually quick and its own run time has not become longer. A slow server is then
     * the more likely cause.
     */
    boolean isStopping(Part part) {
        boolean isNamed = !part.name().isEmpty() && !part.name().startsWith(StackReader.CALLED);
        if (part.kind() != Kind.REDIS || !isNamed || RedisCommands.isBlocking(part.name())) {
            return false;
        }
        double each = operations.of(Phase.REDIS, part.name()).eachNanos();
        double usually = operations.usualNamed(Phase.REDIS, part.name());
        if (each < STOPPED_NANOS) {
            return false;
        }
        if (!LargeReplies.sizeIn(part.name()).isEmpty()) {
            return isNewOrSlower(each, usually);
        }
        return RedisCommands.stopsServer(part.name())
                ? usually < 0 || usually >= STOPPED_NANOS || runsLonger(part.name(), each, usually)
                : delaysOthers(part.name(), each, usually) || (usually < 0 && isNewAndLongest(part.name(), each));
    }

    /**
     * Returns whether the given new command takes much longer than the mean slowdown of every other command, that is,
     * the mean time above its usual time. The mean covers all calls: the late calls are those whose commands waited
     * longest for the new command.
     */
    private boolean isNewAndLongest(String name, double each) {
        Map<String, Double> others = new HashMap<>(operations.each(Phase.REDIS));
        others.keySet()
                .removeIf(other -> other.equals(name)
                        || !operations.areOfSameServer(other, name)
                        || operations.usualNamed(Phase.REDIS, other) < 0);
        return !others.isEmpty()
                && others.entrySet().stream()
                        .allMatch(other -> each >= LONGER_OUTSIDE * meanLonger(other.getKey(), other.getValue()));
    }

    /**
     * Returns whether the run time of a usually quick command has become so much longer that the command blocks the
     * server. All commands wait for the server for about the same time, so the command's own run time is its duration
     * minus the duration of another command. If the server or the network is slow, the durations of all commands grow
     * by about the same amount.
     */
    private boolean runsLonger(String name, double each, double usually) {
        double waits = operations.each(Phase.REDIS).entrySet().stream()
                .filter(other -> !RedisCommands.stopsServer(other.getKey()))
                .filter(other -> operations.areOfSameServer(other.getKey(), name))
                .mapToDouble(Map.Entry::getValue)
                .max()
                .orElse(-1);
        double runs = each - waits;
        return waits >= 0 && runs >= STOPPED_NANOS && runs >= LONGER * usually;
    }

    /**
     * Returns whether a blocking command of calls is known to be slow, or has large replies. Any other command may only
     * seem to block the server: it may be the first command of a call and wait for a command of another thread, while
     * the next commands of the call run on a free server.
     */
    static boolean isCertain(@Nullable Part command) {
        return command != null
                && (RedisCommands.stopsServer(command.name())
                        || !LargeReplies.sizeIn(command.name()).isEmpty());
    }

    /**
     * Returns whether a command with a large reply, or a command of a thread that serves no call, is a possible cause.
     * Such a command is a possible cause if it is new or takes much longer than usual.
     */
    private static boolean isNewOrSlower(double each, double usually) {
        return usually < 0 || each >= LONGER * usually;
    }

    /**
     * Returns a command that blocks the Redis server of the given commands and does not belong to a call, for example
     * the command of a scheduled job; null if there is none. Such a command must exceed its usual time by more than the
     * waiting commands do. If all commands exceed their usual times by about the same, the server or the network is
     * slow instead.
     *
     * @param waiting the slow commands of calls
     */
    @Nullable
    Part outside(List<Part> waiting) {
        return evidence.outside().stream()
                .filter(timed -> timed.kind() == Phase.REDIS && !RedisCommands.isBlocking(timed.name()))
                .filter(timed ->
                        waiting.stream().anyMatch(part -> operations.areOfSameServer(part.name(), timed.name())))
                .filter(this::isStopping)
                .max(Comparator.comparingDouble(OutsideOperations.Timed::nanos))
                .map(timed -> new Part(Kind.REDIS, timed.name()))
                .orElse(null);
    }

    private boolean isStopping(OutsideOperations.Timed timed) {
        double usually = evidence.usual().figure(Baseline.OUTSIDE + timed.key());
        boolean isKnown = RedisCommands.stopsServer(timed.name())
                || !LargeReplies.sizeIn(timed.name()).isEmpty();
        double longer = timed.nanos() - Math.max(0, usually);
        double largest = operations.each(Phase.REDIS).entrySet().stream()
                .filter(other -> operations.areOfSameServer(other.getKey(), timed.name()))
                .mapToDouble(other -> meanLonger(other.getKey(), other.getValue()))
                .max()
                .orElse(0);
        return timed.nanos() >= STOPPED_NANOS
                && isNewOrSlower(timed.nanos(), usually)
                && longer >= (isKnown ? LONGER_OUTSIDE : LONGER) * largest;
    }

    /**
     * Returns the mean time by which a command exceeds its usual time, over all calls. The mean over late calls alone
     * would be too high, because these calls waited longest.
     *
     * @param inLateCalls the mean time in late and failed calls
     */
    private double meanLonger(String name, double inLateCalls) {
        double usually = Math.max(0, operations.usualNamed(Phase.REDIS, name));
        long count = 0;
        double sum = 0;
        for (EndedCall call : evidence.good()) {
            for (NamedTimes.Entry entry : call.ledger().named()) {
                if (entry.kind() == Phase.REDIS && entry.name().equals(name)) {
                    count += entry.count();
                    sum += entry.nanos();
                }
            }
        }
        double inTime = count == 0 ? usually : sum / count; // most calls record short commands without their names
        double late = Math.min(
                1,
                (double) evidence.calls().late() / Math.max(1, evidence.calls().calls()));
        return late * inLateCalls + (1 - late) * inTime - usually;
    }

    private boolean delaysOthers(String name, double each, double usually) {
        Map<String, Double> all = operations.each(Phase.REDIS);
        for (Map.Entry<String, Double> other : all.entrySet()) {
            double otherUsually = operations.usualNamed(Phase.REDIS, other.getKey());
            boolean isOther = !other.getKey().equals(name) && operations.areOfSameServer(other.getKey(), name);
            if (isOther
                    && (LONGER * other.getValue() > each
                            || hasGrownMore(other.getValue(), otherUsually, each, usually))) {
                return false;
            }
        }
        return all.size() > 1;
    }

    /**
     * Returns whether another command has slowed down more than the given command: its time has grown by more, or its
     * slowdown factor (current time divided by usual time) is more than twice as large. Returns false if either command
     * has no usual time.
     */
    private static boolean hasGrownMore(double other, double otherUsually, double each, double usually) {
        return usually > 0
                && otherUsually > 0
                && (other - otherUsually > each - usually || GROWTH * other / otherUsually > each / usually);
    }
}
