package tern.rpc.diagnosis.failure;

import java.util.Comparator;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSnapshot;

/** Explains the reasons for which the server refuses calls before their method runs. */
public final class ServerRefusals {

    /** The property of the limit on concurrent calls of the server. */
    public static final String MAX_CONCURRENCY = "rpc.server.max-concurrency";

    /** The refusal reason for calls that the limit of their method refuses. */
    public static final String METHOD = "method";

    private static final String LIMIT = "limit";
    private static final String SHARE = "share";
    private static final String CONNECTION = "connection";
    /** The refusal reason for calls whose deadline passed before they ran. */
    public static final String DEADLINE = "deadline";

    /** The refusal reasons that have nothing to do with workers. */
    private static final Set<String> NOT_OF_WORKERS = Set.of(METHOD, CONNECTION, Part.UNREAD);

    private ServerRefusals() {}

    /** Returns the workers of the RPC server among the given pools; null if there are none. */
    public static @Nullable PoolSnapshot workers(Stream<PoolSnapshot> pools) {
        return pools.filter(pool -> pool.kind() == PoolKind.WORKERS)
                .max(Comparator.comparing(pool -> setting(pool, MAX_CONCURRENCY) != null))
                .orElse(null);
    }

    /**
     * Returns whether a call that was refused for the given reason found no free worker.
     *
     * @param workers the workers of the server; null if unknown
     */
    public static boolean isForWorkers(String reason, @Nullable PoolSnapshot workers) {
        boolean isOfLimit = isOfConcurrency(reason) && isBelowWorkers(workers);
        return !NOT_OF_WORKERS.contains(reason)
                && !reason.startsWith(Part.STATUS)
                && !isOfLimit
                && !isOfDeadline(reason, workers);
    }

    /** Returns whether the limit on concurrent calls of the server refused the call. */
    public static boolean isOfConcurrency(String reason) {
        return reason.equals(LIMIT) || reason.equals(SHARE);
    }

    /**
     * Returns whether the deadline of the call had passed when the server received it, or soon afterwards. The workers
     * were idle then, so the call did not wait for a worker.
     */
    public static boolean isOfDeadline(String reason, @Nullable PoolSnapshot workers) {
        return reason.equals(DEADLINE)
                && workers != null
                && workers.waiting() <= 0
                && 2 * workers.active() <= workers.max();
    }

    /** Returns whether the number of concurrent calls is limited to a number that leaves some workers idle. */
    private static boolean isBelowWorkers(@Nullable PoolSnapshot workers) {
        PoolSetting limit = workers == null ? null : setting(workers, MAX_CONCURRENCY);
        return limit != null
                && workers != null
                && limit.value().chars().allMatch(Character::isDigit)
                && Integer.parseInt(limit.value()) <= workers.max();
    }

    /** Returns the property of the server's limit on concurrent calls with its value, if the value is known. */
    public static String maxConcurrency(@Nullable PoolSnapshot workers) {
        return values(workers, MAX_CONCURRENCY);
    }

    /** Returns why the server or the application refused calls: the limit, where it is set, and its value. */
    public static String text(String reason, @Nullable PoolSnapshot workers) {
        return switch (reason) {
            case LIMIT -> "more calls were running or waiting than " + maxConcurrency(workers) + " allows";
            case SHARE -> "one caller had too many of the calls that " + maxConcurrency(workers) + " allows";
            case "queue" ->
                "all workers were busy and the queue was full ("
                        + values(workers, "rpc.server.threads", "rpc.server.queue-capacity") + ")";
            case "wait" ->
                "no worker became free in time (" + values(workers, "rpc.server.threads", "rpc.server.max-queue-wait")
                        + ")";
            case DEADLINE -> "their deadline passed before a worker could run them; the caller sets the deadline";
            case METHOD -> "the limit of their method was reached";
            case CONNECTION ->
                "one connection had more unanswered calls than rpc.limits.max-calls-per-connection allows";
            case Part.UNREAD -> "the caller read its answers too slowly (rpc.limits.max-unsent-answers)";
            default -> reason.startsWith(Part.STATUS) ? "the application answered them with " + reason : reason;
        };
    }

    private static String values(@Nullable PoolSnapshot workers, String... properties) {
        return Stream.of(properties)
                .map(property -> {
                    PoolSetting setting = workers == null ? null : setting(workers, property);
                    return setting == null ? property : property + "=" + setting.value();
                })
                .collect(Collectors.joining(", "));
    }

    private static @Nullable PoolSetting setting(PoolSnapshot workers, String property) {
        return workers.settings().stream()
                .filter(setting -> setting.property().equals(property))
                .findFirst()
                .orElse(null);
    }
}
