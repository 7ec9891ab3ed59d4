package tern.rpc.diagnosis;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.Cause.Change;
import tern.rpc.diagnosis.Cause.Where;
import tern.rpc.diagnosis.Part.Kind;
import tern.rpc.pool.ApplicationCode;
import tern.rpc.pool.Holders.Holder;
import tern.rpc.pool.LargeReplies;
import tern.rpc.pool.StoreNames;

/** Describes causes in databases and Redis. */
final class StoreText {

    /**
     * An operation's result is considered large if the thread is running, rather than waiting for the server, in at
     * least this share of the operation's samples.
     */
    static final double READS = 0.5;

    private static final int MIN_ROW_LOOKS = 3;

    /**
     * A transaction is suspected of holding a row lock if it has run no statement for at least this share of the
     * latency target.
     */
    private static final double IDLE_OF_TARGET = 0.1;

    /**
     * Event loops are considered the cause if the processors are nearly saturated and the loops use at least this share
     * of the process's processor time.
     */
    private static final double LOOPS = 0.25;

    /**
     * Processors are considered nearly saturated if at least this share of their time is used. Each command is handed
     * to an event loop and back, and both handovers then wait for a processor.
     */
    private static final double CROWDED = 0.65;

    /**
     * The commands that occupy their connection while they wait for data. Spring Data reports its method names as
     * command names.
     */
    private static final Set<String> BLOCKING = Set.of(
            "BLPOP",
            "BRPOP",
            "BLMOVE",
            "BLMPOP",
            "BRPOPLPUSH",
            "BZPOPMIN",
            "BZPOPMAX",
            "BZMPOP",
            "XREAD",
            "XREADGROUP",
            "WAIT",
            "SUBSCRIBE",
            "PSUBSCRIBE",
            "SSUBSCRIBE",
            "MONITOR");

    /**
     * The Redis commands whose duration grows with the data or with the script. Redis executes only one command at a
     * time.
     */
    private static final Set<String> STOPPING =
            Set.of("KEYS", "FLUSHALL", "FLUSHDB", "SAVE", "SORT", "EVAL", "EVALSHA", "FCALL", "DEBUG");

    /** The Redis commands that usually take long even if the server and the network are fast. */
    private static final Set<String> ALWAYS_SLOW = Set.of("KEYS", "FLUSHALL", "FLUSHDB");

    private static final String SLOW_REDIS = "a command that blocks it (SLOWLOG), its load, its memory";

    /** A write statement is assumed to wait for a lock if it takes more than this multiple of its usual time. */
    private static final double LOCKED_FACTOR = 20;

    private final Evidence evidence;
    private final Excess excess;
    private final Operations operations;
    private final OperationCounts counts;
    private final Map<String, PoolVerdict> pools;

    StoreText(Evidence evidence, Excess excess, Operations operations, Map<String, PoolVerdict> pools) {
        this.evidence = evidence;
        this.excess = excess;
        this.operations = operations;
        this.counts = new OperationCounts(evidence, excess, operations);
        this.pools = pools;
    }

    private String name(Part part, String otherwise) {
        if (!part.name().isEmpty() && !part.name().equals(NamedTimes.OTHERS)) {
            return part.name();
        }
        String names = operations.names(part.kind(), !counts.areMany(part.kind(), ""));
        return names.isEmpty() ? otherwise : names;
    }

    Told statement(Part part) {
        if (part.name().endsWith(NewConnections.OPENED)) {
            return withoutPool(part);
        }
        Operations.Sum sum = operations.sum(Phase.SQL, part.name());
        String text = name(part, "statements");
        String place = operations.placeOf(Phase.SQL, part.name());
        List<String> facts = new ArrayList<>();
        facts.addAll(operations.figures("sql", Phase.SQL, part.name()));
        if (place != null) {
            facts.add("from     " + place);
        }
        if (counts.areMany(part.kind(), part.name())) {
            return new Told(
                    "MANY STATEMENTS",
                    text,
                    Change.of(
                            Where.STATEMENT,
                            "one statement in place of " + Math.round(sum.count()) + " a call (join, IN list or batch)"
                                    + at(place) + ": " + text + "; no pool size helps"),
                    facts);
        }
        if (counts.areMore(part)) {
            facts.add(counts.figures(part));
            return new Told("MORE STATEMENTS", text, RemoteText.more(counts, part, place), facts);
        }
        String store = OperationNames.storeOfAll(part);
        if (store != null) {
            facts.add("all      " + operations.allSlowerOf(Kind.SQL, store).size()
                    + " different statements of this data source are slower");
            return new Told(
                    "SLOW DATABASE",
                    "every statement of " + store,
                    server(
                            "database of " + store,
                            part,
                            store,
                            "its load, disk and locks" + BackgroundStatements.longest(pools, store)),
                    facts);
        }
        Set<String> all = operations.allSlower(Kind.SQL);
        if (part.name().isEmpty() && !all.isEmpty()) {
            facts.add("all      " + all.size() + " different statements are slower");
            return new Told(
                    "SLOW DATABASE",
                    "every statement",
                    server("database", part, "", "its load, disk and locks" + BackgroundStatements.longest(pools, "")),
                    facts);
        }
        Told deadlock = new Deadlocks(excess, operations).of(text, at(place), facts);
        if (deadlock != null) {
            return deadlock;
        }
        DatabaseLocks.Found together = new DatabaseLocks(operations, pools).find(text, at(place));
        if (together != null) {
            facts.addAll(together.facts());
            return new Told(together.kind(), together.name(), together.change(), facts);
        }
        if (StoreNames.without(text).equals("commit")) {
            return new Told(
                    "SLOW COMMIT",
                    text,
                    Change.of(
                            Where.PEER,
                            "the database's log disk or replication; fewer transactions a call" + at(place)),
                    facts);
        }
        String holder = holderOfRow(text);
        if (holder != null) {
            return new Told("ROW LOCK", text, Change.of(Where.CODE, holder + "; waiting: " + text + at(place)), facts);
        }
        if (waitsForLock(text, sum.eachNanos())) {
            facts.add("others   no other statement is slower, so this one probably waits for a lock");
            return new Told(
                    "ROW LOCK",
                    text,
                    Change.of(
                            Where.PEER,
                            "end the transaction that holds the row sooner: " + DatabaseLocks.elsewhere(text)
                                    + "; if nobody holds it, the plan or a trigger of this statement" + at(place) + ": "
                                    + text
                                    + "; no pool size helps"),
                    facts);
        }
        if (waitsForRows(part)) {
            facts.add("rows     calls mostly wait for the next rows of the result");
            return new Told("SLOW STATEMENT", text, Change.of(Where.STATEMENT, moreRowsAtOnce(text, place)), facts);
        }
        return new Told("SLOW STATEMENT", text, Change.of(Where.STATEMENT, slow(text, place, sum.eachNanos())), facts);
    }

    /** Returns the text for code that opens a database connection for each use. */
    private Told withoutPool(Part part) {
        String where = part.name()
                .substring(StackReader.CALLED.length(), part.name().length() - NewConnections.OPENED.length());
        String line = excess.samples.shownLineOf(part);
        return new Told(
                "CONNECTIONS OPEN SLOWLY",
                "opened in " + where,
                Change.of(
                        Where.CODE,
                        "a pool of connections in place of a new connection for each use in "
                                + (line == null ? where : line)),
                List.of("looks    " + excess.samples.looks(part) + " found a call that opens a connection"));
    }

    private static String moreRowsAtOnce(String text, @Nullable String place) {
        return "this statement: its plan, an index, fewer rows, or a larger fetch size if it is small"
                + " (Statement.setFetchSize, hibernate.jdbc.fetch_size)" + at(place) + ": " + text
                + "; no pool size helps";
    }

    private String slow(String text, @Nullable String place, double eachNanos) {
        if (excess.samples.computingIn(Phase.SQL) >= READS) {
            return "this statement returns much: fewer rows or columns, or pages" + at(place) + ": " + text
                    + "; no pool size helps";
        }
        String locks = DatabaseLocks.writes(text.toLowerCase(Locale.ROOT))
                ? ", a trigger of its table, or the lock that it waits for"
                : "";
        return "this statement: its plan, an index, fewer rows" + locks + at(place) + ": " + text
                + QuickExecutions.hint(evidence, text, eachNanos) + "; no pool size helps";
    }

    /**
     * Returns the recommended change if all operations on a server became slower.
     *
     * @param store the server's data source or Redis server; empty if there is only one
     */
    private Change server(String server, Part part, String store, String look) {
        String network = "the network to the " + server;
        String itself = "the " + server + " itself: " + look;
        return Change.of(
                Where.PEER,
                (isLossy()
                                ? network
                                : operations.isSameForAll(part.kind(), store)
                                        ? network + ", or " + itself
                                                + "; each operation takes about the same time longer"
                                        : itself)
                        + DelayedAcks.hint(part, excess, operations));
    }

    private boolean isLossy() {
        return evidence.machine().second() != null
                && evidence.machine().second().retransmitShare() > 0.01;
    }

    /**
     * Returns whether a write statement suddenly became many times slower while all other statements kept their usual
     * times. Read statements are not considered, because a slow disk or a bad query plan would also slow them down.
     * Inserts are not considered either. A row that is not visible yet is rarely locked, so a trigger or an index is as
     * likely.
     */
    private boolean waitsForLock(String statement, double eachNanos) {
        double usually = operations.usualNamed(Phase.SQL, statement);
        String lower = statement.toLowerCase(Locale.ROOT);
        return DatabaseLocks.writes(lower)
                && !DatabaseLocks.addsRows(lower)
                && usually > 0
                && eachNanos > LOCKED_FACTOR * usually
                && 2 * eachNanos > evidence.targetNanos()
                && operations.othersAreAsUsual(Phase.SQL, statement);
    }

    /**
     * Returns the connection that probably holds the row that a write statement waits for: a connection with an open
     * transaction on the same table.
     */
    private @Nullable String holderOfRow(String statement) {
        String lower = statement.toLowerCase(Locale.ROOT);
        if (!DatabaseLocks.writes(lower)) {
            return null;
        }
        long now = System.nanoTime();
        for (PoolVerdict pool : pools.values()) {
            for (Holder holder : pool.pool().holders()) {
                String last = holder.statement();
                boolean idle = !holder.isExecuting()
                        && now - holder.statementNanos() > IDLE_OF_TARGET * evidence.targetNanos();
                if (last != null
                        && idle
                        && operations.areOfSameServer(last, statement)
                        && holds(lower, last.toLowerCase(Locale.ROOT))) {
                    StackTraceElement place = holder.place();
                    return "end the transaction that holds the row sooner"
                            + (place == null ? "" : ", begun in " + ApplicationCode.shown(place))
                            + ": its last statement is " + last + DatabaseLocks.now(holder);
                }
            }
        }
        return null;
    }

    private static boolean holds(String waiting, String last) {
        if (!DatabaseLocks.writes(last)) {
            return false;
        }
        Set<String> words = new HashSet<>(List.of(last.split("[^a-z0-9_]+")));
        for (String keyword : List.of("update", "from", "into", "join")) {
            int at = (" " + waiting).indexOf(" " + keyword + " ");
            if (at >= 0) {
                String[] rest = waiting.substring(Math.min(waiting.length(), at + keyword.length()))
                        .strip()
                        .split("[^a-z0-9_]+");
                for (String table : rest) {
                    if (!table.isEmpty()) {
                        return words.contains(table);
                    }
                }
            }
        }
        return false;
    }

    /** Returns whether the command with this name blocks the Redis server for a long time. */
    static boolean stopsServer(String command) {
        return STOPPING.contains(command.split(" ", 2)[0].toUpperCase(Locale.ROOT));
    }

    /** Returns whether the command with this name may wait until data arrives. */
    static boolean isBlocking(String command) {
        return BLOCKING.contains(command.split(" ", 2)[0].toUpperCase(Locale.ROOT));
    }

    Told command(Part part) {
        Operations.Sum sum = operations.sum(Phase.REDIS, part.name());
        String name = name(part, "Redis commands");
        String place = operations.placeOf(Phase.REDIS, part.name());
        List<String> facts = new ArrayList<>();
        facts.addAll(operations.figures("redis", Phase.REDIS, part.name()));
        if (place != null) {
            facts.add("from     " + place);
        }
        Told loops = eventLoops(facts);
        if (loops != null) {
            return loops;
        }
        if (counts.areMany(part.kind(), part.name())) {
            return new Told(
                    "MANY COMMANDS",
                    name,
                    Change.of(
                            Where.CODE,
                            "one round trip in place of " + Math.round(sum.count()) + " a call (MGET or a pipeline)"
                                    + at(place) + ": " + name),
                    facts);
        }
        if (counts.areMore(part)) {
            facts.add(counts.figures(part));
            return new Told("MORE COMMANDS", name, RemoteText.more(counts, part, place), facts);
        }
        String store = OperationNames.storeOfAll(part);
        if (store != null) {
            facts.add("all      " + operations.allSlowerOf(Kind.REDIS, store).size()
                    + " different commands to this server are slower");
            return new Told(
                    "SLOW REDIS",
                    "every command of " + store,
                    server("Redis server of " + store, part, store, SLOW_REDIS),
                    facts);
        }
        Set<String> all = operations.allSlower(Kind.REDIS);
        if (part.name().isEmpty() && !all.isEmpty()) {
            facts.add("all      " + all.size() + " different commands are slower");
            return new Told("SLOW REDIS", "every command", server("Redis server", part, "", SLOW_REDIS), facts);
        }
        return new Told(
                "SLOW REDIS COMMAND",
                name,
                Change.of(Where.CODE, command(name) + at(place) + ": " + name + orElse(name) + "; no pool size helps"),
                facts);
    }

    /**
     * Describes Lettuce's threads, which decode all replies, as a cause. Returns null unless the processors are nearly
     * saturated and these threads use a large share of them.
     */
    private @Nullable Told eventLoops(List<String> facts) {
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
        return new Told(
                "PROCESSORS",
                "event loops of Lettuce",
                new Change(
                        Where.PROPERTY,
                        "spring.data.redis.client-type=jedis, with redis.clients:jedis on the class path: callers then"
                                + " decode their own answers; or fewer commands a call",
                        "spring.data.redis.client-type",
                        "lettuce",
                        "jedis",
                        -1),
                all);
    }

    private String command(String name) {
        if (isBlocking(name)) {
            return "no blocking command within a call, or a shorter timeout; use a separate connection for it,"
                    + " because the other commands of a shared connection wait behind it";
        }
        String size = LargeReplies.sizeIn(name);
        if (!size.isEmpty()) {
            return "a smaller value, several keys, or only the part that is needed (a hash, GETRANGE): the value has "
                    + size + ", and the other commands of a shared connection wait until it has been read";
        }
        String verb = name.split(" ", 2)[0].toUpperCase(Locale.ROOT);
        String fewer = overManyElements(verb);
        if (fewer != null) {
            return fewer;
        }
        if (excess.samples.computingIn(Phase.REDIS) >= READS) {
            return "this command's value is large: a smaller one, or parts of it";
        }
        return "this command: a smaller value, fewer elements, what else the Redis server runs (SLOWLOG), or the"
                + " network to it";
    }

    /**
     * Returns additional advice for a slow command whose time grows with the number of elements. The advice applies if
     * the number of elements has not grown. Returns an empty string for any other command.
     */
    private static String orElse(String name) {
        String verb = name.split(" ", 2)[0].toUpperCase(Locale.ROOT);
        return overManyElements(verb) == null || ALWAYS_SLOW.contains(verb)
                ? ""
                : "; if it has no more elements than before, look at what else the Redis server runs (SLOWLOG), and at"
                        + " the network to it";
    }

    /**
     * Returns the recommended change for a command whose time grows with the number of elements; null for another
     * command.
     */
    private static @Nullable String overManyElements(String verb) {
        String stops = ", which stops the server for as long as it runs";
        return switch (verb) {
            case "KEYS" -> "SCAN in place of KEYS" + stops;
            case "SMEMBERS", "SINTER", "SUNION", "SDIFF", "SINTERSTORE", "SUNIONSTORE", "SDIFFSTORE" ->
                "smaller sets, or SSCAN in place of " + verb + " over a large set" + stops;
            case "HGETALL", "HKEYS", "HVALS" ->
                "HMGET of the members that are needed, or HSCAN, in place of " + verb + " over a large hash" + stops;
            case "LRANGE", "LREM", "LINDEX", "LINSERT", "LTRIM" ->
                "a shorter list, or a shorter range, for " + verb + stops;
            case "ZRANGE",
                    "ZREVRANGE",
                    "ZRANGEBYSCORE",
                    "ZREVRANGEBYSCORE",
                    "ZRANGEBYLEX",
                    "ZUNIONSTORE",
                    "ZINTERSTORE" -> "a LIMIT, or a smaller sorted set, for " + verb + stops;
            case "DEL" -> "UNLINK in place of DEL of large values" + stops;
            case "FLUSHALL", "FLUSHDB" -> verb + " with the option ASYNC" + stops;
            case "SORT" -> "a sorted set in place of SORT" + stops;
            case "EVAL", "EVALSHA", "FCALL" -> "a script with less work, or several short ones" + stops;
            default -> null;
        };
    }

    static String at(@Nullable String place) {
        return place == null ? "" : " in " + place;
    }

    /** Returns whether at least half of the samples taken during this statement show a wait for the next rows. */
    private boolean waitsForRows(Part statement) {
        int looks = 0;
        int rows = 0;
        for (Excess.Counted counted : excess.accounts) {
            Sampler.Samples samples = evidence.samples().get(counted.call().ledger());
            if (samples != null && counted.times().sum(Operations.only(statement)) > 0) {
                looks += samples.sqlLooks;
                rows += samples.rowLooks;
            }
        }
        return rows >= MIN_ROW_LOOKS && 2 * rows >= looks;
    }
}
