package tern.rpc.diagnosis.text;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.calls.MethodRate;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.cause.CauseDescription;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.MoreCalls;
import tern.rpc.diagnosis.failure.LocalRefusals;
import tern.rpc.diagnosis.failure.ServerRefusals;
import tern.rpc.diagnosis.pool.ObservedPool;
import tern.rpc.pool.PoolSnapshot;

/** Creates the cause descriptions for calls that a limit of the server, the application or a library refuses. */
final class LimitText {

    private final Evidence evidence;
    private final ExcessTime excess;

    LimitText(Evidence evidence, ExcessTime excess) {
        this.evidence = evidence;
        this.excess = excess;
    }

    CauseDescription describe(Part part) {
        LocalRefusals.Limiter limiter = LocalRefusals.of(part);
        if (limiter != null) {
            return refused(limiter, part.name());
        }
        if (part.name().equals(ServerRefusals.METHOD)) {
            return ofMethod();
        }
        if (ServerRefusals.isOfConcurrency(part.name())) {
            return ofServer(part.name());
        }
        String text = switch (part.name()) {
            case "connection" ->
                "open more connections in the caller, or send fewer concurrent calls: one connection has more calls"
                        + " in flight than rpc.limits.max-calls-per-connection allows";
            case Part.UNREAD -> "find out why the caller reads its answers too slowly";
            default ->
                "the application answers with " + part.name() + ": check the filter, gateway or rate limiter that"
                        + " refuses these requests";
        };
        return new CauseDescription("LIMIT", part.name(), Change.of(Where.UNKNOWN, text), List.of());
    }

    /**
     * Returns the cause description for calls that the server's limit on concurrent calls refuses while workers are
     * idle.
     */
    private CauseDescription ofServer(String reason) {
        PoolSnapshot workers = ServerRefusals.workers(evidence.pools().stream().map(ObservedPool::now));
        String limit = ServerRefusals.maxConcurrency(workers);
        List<String> facts = new ArrayList<>();
        facts.add(refused(reason));
        if (workers != null) {
            facts.add("workers  " + workers.active() + " of " + workers.max() + " busy, " + workers.waiting()
                    + " calls wait");
        }
        return new CauseDescription(
                "LIMIT",
                limit,
                Change.of(
                        Where.CODE,
                        "raise " + limit + ", or set " + ServerRefusals.MAX_CONCURRENCY
                                + "=adaptive: this limit refuses calls although workers are idle"),
                facts);
    }

    private String refused(String reason) {
        long refused = evidence.refused().getOrDefault(reason, 0L);
        return String.format(
                Locale.ROOT,
                "refused  %.0f of %.0f calls/s",
                refused / evidence.seconds(),
                (evidence.calls().calls() + evidence.calls().refused()) / evidence.seconds());
    }

    /**
     * Returns the cause description for calls that were refused because their deadline had passed, although workers
     * were idle.
     */
    CauseDescription ofDeadline(Part part) {
        return new CauseDescription(
                "TIMEOUT TOO SHORT",
                part.name(),
                Change.of(
                        Where.PEER,
                        "set a longer timeout in the callers, or find out what delays their calls on the way to this"
                                + " server: calls arrive when their deadline has passed or is about to pass, although"
                                + " workers are idle"),
                List.of(refused(ServerRefusals.DEADLINE)));
    }

    /** Returns the cause description for calls that the limits of their methods refuse. */
    private CauseDescription ofMethod() {
        MoreCalls calls = new MoreCalls(evidence, excess);
        MethodRate limited = calls.limited();
        MethodRate more = calls.behind(limited);
        List<String> facts = new ArrayList<>();
        if (more != null) {
            facts.addAll(MoreCalls.facts(more));
        }
        if (limited != null) {
            facts.add(String.format(
                    Locale.ROOT,
                    "refused  %.0f of %.0f calls/s of %s",
                    limited.refusedPerSecond(),
                    limited.perSecond(),
                    limited.method()));
        }
        if (more == null) {
            return new CauseDescription(
                    "LIMIT",
                    limited == null ? ServerRefusals.METHOD : ServerRefusals.METHOD + " " + limited.method(),
                    Change.of(
                            Where.UNKNOWN,
                            "raise the limit of "
                                    + (limited == null ? "the method that refuses calls" : limited.method())
                                    + setBy(limited) + ", or make the method faster"),
                    facts);
        }
        return new CauseDescription(
                "MORE CALLS",
                "callers of " + more.method(),
                Change.of(
                        Where.PEER,
                        MoreCalls.change(more)
                                + (limited == null || limited.equals(more)
                                        ? "; or raise the limit of the method" + setBy(limited)
                                                + ", which refuses some of these calls"
                                        : "; they slow down " + limited.method()
                                                + ", whose limit refuses calls meanwhile")),
                facts);
    }

    /** Returns the place where the method's limit is set, in parentheses and after a space. */
    private static String setBy(@Nullable MethodRate limited) {
        String place = limited == null ? null : limited.limit();
        return " (" + (place == null ? "rpc.server.services.<name>.methods.<method>.max-concurrency" : place) + ")";
    }

    private CauseDescription refused(LocalRefusals.Limiter limiter, String name) {
        String change = switch (limiter) {
            case BREAKER ->
                "find out why calls failed before this circuit breaker opened, or who opened it by hand; no failed or"
                        + " slow operation behind it was recorded in the last five minutes";
            case BULKHEAD -> "allow more concurrent calls in the configuration of this bulkhead, or send fewer";
            case CONCURRENCY -> "raise this limit of concurrent calls, or send fewer";
            case RATE -> "raise the limit of this rate limiter, or send fewer calls through it";
        };
        Evidence.Counts counts = evidence.calls();
        double usually = evidence.usual().figure("calls");
        List<String> facts = usually <= 0
                ? List.of()
                : List.of(String.format(
                        Locale.ROOT,
                        "calls    %.0f per second, usually %.0f",
                        (counts.calls() + counts.refused()) / evidence.seconds(),
                        usually));
        return new CauseDescription("LIMIT", name, Change.of(Where.CODE, change), facts);
    }
}
