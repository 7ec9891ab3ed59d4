package tern.rpc.diagnosis.text;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.RedisCommands;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.calls.Baseline;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.cause.CauseDescription;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.ManySlowOperations;
import tern.rpc.diagnosis.excess.OperationCounts;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.excess.UnchangedOperations;
import tern.rpc.diagnosis.machine.Machine;
import tern.rpc.diagnosis.rule.MissedJobs;
import tern.rpc.diagnosis.rule.OutsideWork;
import tern.rpc.diagnosis.sample.TaskSamples;
import tern.rpc.diagnosis.sample.TaskWatch;
import tern.rpc.pool.ApplicationCode;
import tern.rpc.pool.LargeReplies;
import tern.rpc.pool.OutsideOperations;
import tern.rpc.pool.PoolKind;

/** Creates the cause descriptions for Redis. */
final class RedisText {

    /**
     * Event loops count as the cause if the processors are nearly saturated and the loops use at least {@value} of the
     * process's processor time.
     */
    private static final double LOOPS = 0.25;

    /**
     * If calls send at least {@value} commands on average, the number of commands is the cause, even if the commands
     * also occupy the event loops.
     */
    private static final double TOO_MANY = 100;

    /**
     * The processors count as nearly saturated if at least {@value} of their time is used. Each command is handed to an
     * event loop and back, and both handovers then wait for a processor.
     */
    private static final double CROWDED = 0.65;

    private static final String SLOW_REDIS = "a command that blocks it (SLOWLOG), its load or its memory";

    private final Evidence evidence;
    private final ExcessTime excess;
    private final Operations operations;
    private final OperationCounts counts;
    private final ServerText servers;
    private final ManySlowOperations manySlow;

    RedisText(Evidence evidence, ExcessTime excess, Operations operations, ServerText servers) {
        this.evidence = evidence;
        this.excess = excess;
        this.operations = operations;
        this.counts = new OperationCounts(evidence, excess, operations);
        this.servers = servers;
        this.manySlow = new ManySlowOperations(evidence, excess, operations);
    }

    CauseDescription command(Part part) {
        OutsideOperations.Timed outside =
                operations.of(Phase.REDIS, part.name()).count() > 0 ? null : outside(part);
        if (outside != null) {
            return outside(outside);
        }
        Operations.Sum sum = operations.sum(Phase.REDIS, part.name());
        String name = servers.name(part, "Redis commands");
        String place = operations.placeOf(Phase.REDIS, part.name());
        List<String> facts = new ArrayList<>();
        facts.addAll(operations.figures("redis", Phase.REDIS, part.name()));
        if (place != null) {
            facts.add("from     " + place);
        }
        CauseDescription loops = sum.count() >= TOO_MANY ? null : eventLoops(facts);
        if (loops != null) {
            return loops;
        }
        if (areMany(part) && !counts.isBehindEmptyCache(part) && !counts.wereRare(part)) {
            return new CauseDescription(
                    "MANY COMMANDS",
                    name,
                    Change.of(
                            Where.CODE,
                            "use one round trip instead of " + Math.round(sum.count()) + " per call (MGET or a"
                                    + " pipeline)"
                                    + Operations.at(place) + ": " + name + MoreText.usuallyFewer(counts, part)),
                    facts);
        }
        if (counts.areMore(part)) {
            facts.add(counts.text().figures(part));
            return new CauseDescription("MORE COMMANDS", name, MoreText.more(counts, part, place), facts);
        }
        OutsideOperations.Recent blocking = RedisCommands.isBlocking(part.name()) ? null : blockingOutside(part);
        if (blocking != null) {
            return new CauseDescription(
                    "BLOCKING REDIS COMMAND", blocking.name(), Change.of(Where.CODE, ownConnection(blocking)), facts);
        }
        CauseDescription slowServer = server(part, facts);
        if (slowServer != null) {
            return slowServer;
        }
        CauseDescription unchanged = MoreText.unchanged(
                new UnchangedOperations(evidence, excess, operations), part, "MORE COMMANDS", place, facts);
        if (unchanged != null) {
            return unchanged;
        }
        return new CauseDescription(
                "SLOW REDIS COMMAND",
                name,
                Change.of(
                        Where.CODE,
                        fewer(name) + Operations.at(place) + ": " + name + orElse(name)
                                + "; a different pool size does not help"),
                facts);
    }

    private boolean areMany(Part part) {
        boolean isServer =
                part.name().isEmpty() && !manySlow.slower(part.kind()).isEmpty();
        return (!isServer && counts.areMany(part.kind(), part.name())) || manySlow.areMany(part);
    }

    /**
     * Returns the cause description for a Redis server that is slow for all commands. Returns null if the cause is a
     * single command, or the number of commands.
     */
    private @Nullable CauseDescription server(Part part, List<String> facts) {
        String server = OperationNames.storeOfAll(part);
        if (server != null) {
            Set<String> ofServer = operations.allSlowerOf(Kind.REDIS, server);
            facts.add("all      " + ofServer.size() + " different commands to this server are slower");
            CauseDescription connection = new QuickClients(excess, operations).describe(server, ofServer, facts);
            if (connection != null) {
                return connection;
            }
            return new CauseDescription(
                    "SLOW REDIS",
                    "every command of " + server,
                    servers.change("Redis server of " + server, part, server, SLOW_REDIS),
                    facts);
        }
        Set<String> slower = operations.allSlower(Kind.REDIS);
        Set<String> all = slower.isEmpty() ? manySlow.slower(Kind.REDIS) : slower;
        if (!part.name().isEmpty() || (all.isEmpty() && areMany(part))) {
            return null;
        }
        if (!all.isEmpty()) {
            facts.add("all      " + all.size() + " different commands are slower");
        }
        return new CauseDescription(
                "SLOW REDIS",
                all.isEmpty() ? "several commands" : "every command",
                servers.change("Redis server", part, "", SLOW_REDIS + unsent()),
                facts);
    }

    /**
     * Returns text about commands that a shared connection does not send; an empty string if the application has a
     * Redis pool.
     */
    private String unsent() {
        boolean isShared =
                evidence.pools().stream().noneMatch(pool -> pool.now().kind() == PoolKind.REDIS);
        return isShared ? "; if it answers other clients quickly, look for " + QuickClients.UNSENT : "";
    }

    /**
     * Returns the command with the name of the given cause, if a thread that serves no call runs it; null if there is
     * none.
     */
    private OutsideOperations.@Nullable Timed outside(Part part) {
        return evidence.outside().stream()
                .filter(timed -> timed.kind() == Phase.REDIS && timed.name().equals(part.name()))
                .findFirst()
                .orElse(null);
    }

    /**
     * Returns the cause description for a command that blocks the Redis server and is run by a thread that serves no
     * call.
     */
    private CauseDescription outside(OutsideOperations.Timed command) {
        TaskSamples threads = evidence.tasks().executor(TaskWatch.nameOf(command.threadName()));
        StackTraceElement line = threads == null ? null : threads.lineIn(Kind.REDIS);
        double usually = evidence.usual().figure(Baseline.OUTSIDE + command.key());
        return new CauseDescription(
                "SLOW REDIS COMMAND",
                command.name(),
                Change.of(
                        Where.CODE,
                        fewer(command.name()) + ": " + command.name() + ", which thread " + command.threadName()
                                + " runs outside of calls"
                                + (line == null ? "" : " in " + ApplicationCode.shown(line))
                                + "; the commands of calls wait meanwhile; a different pool size does not help"),
                List.of("outside  "
                        + (usually < 0
                                ? command.name() + " takes " + Times.millis(command.nanos()) + " ms"
                                : OutsideWork.Operation.text(command.name(), command.nanos(), usually))));
    }

    /**
     * Returns a blocking command run on the Redis server of the given operation by a thread that serves no call; null
     * if there is none. Also returns null if the application has a Redis pool. Without a pool, calls and other threads
     * share one connection, so the commands of calls wait behind the blocking command.
     */
    private OutsideOperations.@Nullable Recent blockingOutside(Part part) {
        boolean isShared =
                evidence.pools().stream().noneMatch(pool -> pool.now().kind() == PoolKind.REDIS);
        String store = OperationNames.store(part.name());
        return isShared
                ? OutsideOperations.recent(
                        Phase.REDIS,
                        name -> RedisCommands.isBlocking(name)
                                && (store.isEmpty()
                                        || OperationNames.store(name).equals(store)),
                        System.nanoTime())
                : null;
    }

    private static String ownConnection(OutsideOperations.Recent blocking) {
        String place = MissedJobs.place(blocking.thread());
        return "use a separate connection for the blocking command " + blocking.name() + ", which thread "
                + blocking.threadName() + " runs" + (place == null ? "" : " in " + place)
                + ": the commands of calls wait behind it on the shared connection (a second connection factory, or"
                + " setShareNativeConnection(false) for this one); another timeout or pool size does not help";
    }

    /**
     * Returns the cause description for Lettuce's threads, which decode all replies. Returns null unless the processors
     * are nearly saturated and these threads use a large share of the processor time.
     */
    private @Nullable CauseDescription eventLoops(List<String> facts) {
        Machine machine = evidence.machine();
        double loops = machine.burners().stream()
                .filter(burner -> burner.name().startsWith("lettuce-"))
                .mapToDouble(Machine.Burner::processors)
                .sum();
        double busy = Math.max(0, machine.own()) + Math.max(0, machine.others());
        if (loops < LOOPS * machine.own() || loops <= 0 || busy < CROWDED * machine.processors()) {
            return null;
        }
        List<String> all = new ArrayList<>(facts);
        all.add(String.format(
                Locale.ROOT,
                "loops    lettuce-* keep %.1f of %.1f processors busy, the process %.1f",
                loops,
                machine.processors(),
                machine.own()));
        return new CauseDescription(
                "PROCESSORS",
                "event loops of Lettuce",
                new Change(
                        Where.PROPERTY,
                        "set spring.data.redis.client-type=jedis, with redis.clients:jedis on the class path: callers"
                                + " then decode their own answers; or send fewer commands per call",
                        "spring.data.redis.client-type",
                        "lettuce",
                        "jedis",
                        -1),
                all);
    }

    private String fewer(String name) {
        if (RedisCommands.isBlocking(name)) {
            return "do not send a blocking command within a call, or set a shorter timeout; use a separate connection"
                    + " for it, because the other commands of a shared connection wait behind it";
        }
        String size = LargeReplies.sizeIn(name);
        String verb = name.split(" ", 2)[0].toUpperCase(Locale.ROOT);
        if (!size.isEmpty() && (verb.equals("MGET") || verb.equals("HMGET"))) {
            return "read fewer or smaller values with one " + verb + ": its answer has " + size
                    + ", and the other commands of a shared connection wait until it has been read";
        }
        String elements = overManyElements(verb);
        if (elements != null) {
            return elements + (size.isEmpty() ? "" : "; its answer has " + size);
        }
        if (!size.isEmpty()) {
            return "store a smaller value or several keys, or read only the needed part (a hash, GETRANGE): the value"
                    + " has "
                    + size + ", and the other commands of a shared connection wait until it has been read";
        }
        if (excess.samples.areReadingResults(Phase.REDIS)) {
            return "store a smaller value, or read only parts of it: this command's value is large";
        }
        if (RedisCommands.isConstant(verb)) {
            return "find the command or script that keeps the Redis server busy, which any client may have sent"
                    + " (SLOWLOG GET), or check the network to the server: " + verb
                    + " takes constant time, and its value is small";
        }
        return "check this command: use a smaller value or fewer elements, or check other commands (SLOWLOG) or the"
                + " network to it";
    }

    /**
     * Returns additional advice for a slow command whose time grows with the number of elements. The advice applies if
     * the number of elements has not grown. Returns an empty string for any other command.
     */
    private static String orElse(String name) {
        String verb = name.split(" ", 2)[0].toUpperCase(Locale.ROOT);
        boolean isKnown = !LargeReplies.sizeIn(name).isEmpty();
        return overManyElements(verb) == null || isKnown || RedisCommands.isAlwaysSlow(verb)
                ? ""
                : "; if it has no more elements than before, check the other commands of the Redis server (SLOWLOG) and"
                        + " the network to it";
    }

    /**
     * Returns the recommended change for a command whose time grows with the number of elements; null for any other
     * command.
     */
    private static @Nullable String overManyElements(String verb) {
        String stops = ": " + verb + " stops the server while it runs";
        return switch (verb) {
            case "KEYS" -> "use SCAN instead of KEYS" + stops;
            case "SMEMBERS", "SINTER", "SUNION", "SDIFF", "SINTERSTORE", "SUNIONSTORE", "SDIFFSTORE" ->
                "use smaller sets, or SSCAN instead of " + verb + " over a large set" + stops;
            case "HGETALL", "HKEYS", "HVALS" ->
                "use HMGET of the needed members, or HSCAN, instead of " + verb + " over a large hash" + stops;
            case "LRANGE", "LREM", "LINDEX", "LINSERT", "LTRIM" ->
                "use a shorter list, or a shorter range, for " + verb + stops;
            case "ZRANGE",
                    "ZREVRANGE",
                    "ZRANGEBYSCORE",
                    "ZREVRANGEBYSCORE",
                    "ZRANGEBYLEX",
                    "ZUNIONSTORE",
                    "ZINTERSTORE" -> "use a LIMIT, or a smaller sorted set, for " + verb + stops;
            case "DEL" -> "use UNLINK instead of DEL for large values" + stops;
            case "FLUSHALL", "FLUSHDB" -> "use " + verb + " with the option ASYNC" + stops;
            case "SORT" -> "use a sorted set instead of SORT" + stops;
            case "EVAL", "EVALSHA", "FCALL" ->
                "use a script with less work, or several short scripts (SLOWLOG GET shows the script)" + stops;
            default -> null;
        };
    }
}
