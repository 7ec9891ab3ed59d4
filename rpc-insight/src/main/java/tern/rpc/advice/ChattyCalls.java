package tern.rpc.advice;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;

/** A call that makes many round trips of one kind, one after the other. */
final class ChattyCalls implements Rule {

    /** As many as a careful method may well need. */
    private static final int FEW = 5;

    /** Of the target, or of the call's own time: below it the round trips are not what makes the call slow. */
    private static final double SHARE = 0.2;

    /** Round trips of one kind, the wait that comes with each, and what makes one of many. */
    private record Kind(Phase operation, @Nullable Phase connection, String name, String batch) {}

    private static final List<Kind> KINDS = List.of(
            new Kind(Phase.REDIS, Phase.REDIS_CONNECTION, "Redis commands", "one MGET, or a pipeline, instead of them"),
            new Kind(
                    Phase.SQL,
                    Phase.JDBC_CONNECTION,
                    "SQL statements",
                    "one statement with an IN list or a join, or a batch"),
            new Kind(
                    Phase.HTTP,
                    Phase.HTTP_CONNECTION,
                    "HTTP exchanges",
                    "one request for all of them, or ask in parallel"),
            new Kind(Phase.RPC, null, "RPC calls", "one method that takes a list, or call in parallel"));

    @Override
    public Stream<Finding> check(Situation situation) {
        return situation.served().stream()
                .flatMap(call -> KINDS.stream().flatMap(kind -> check(situation, call, kind)));
    }

    private static Stream<Finding> check(Situation situation, CallSnapshot call, Kind kind) {
        CallSnapshot.Use use = call.use(kind.operation());
        if (use.operations() <= FEW) {
            return Stream.empty();
        }
        Duration waits = kind.connection() == null
                ? Duration.ZERO
                : call.use(kind.connection()).time();
        Duration spent = use.time().plus(waits);
        double share = (double) spent.toNanos()
                / Math.max(
                        1,
                        Math.min(
                                situation.goal().latency().toNanos(),
                                call.mean().toNanos()));
        if (share < SHARE) {
            return Stream.empty();
        }
        Duration left = Duration.ofNanos((long) (use.time().toNanos() / use.operations()));
        return Stream.of(new Finding(
                "chatty-calls",
                situation.misses(call) ? Severity.BLOCKS : Severity.RISKS,
                "round trips of " + call.name(),
                Advisor.number(use.operations()) + " serial " + kind.name() + " a call take " + Advisor.millis(spent)
                        + " of " + Advisor.millis(call.mean()),
                kind.batch(),
                "about " + Advisor.millis(left) + " instead of " + Advisor.millis(spent) + " a call",
                spent.minus(left).isNegative() ? Duration.ZERO : spent.minus(left)));
    }
}
