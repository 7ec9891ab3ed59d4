package tern.rpc.diagnosis;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.Cause.Change;
import tern.rpc.diagnosis.Cause.Where;
import tern.rpc.pool.ApplicationCode;
import tern.rpc.pool.PoolKind;

/** Turns a part of the excess into a cause: what it is, the evidence, and what to change. */
final class CauseText {

    /** From this number of operations per call on, their number is the cause rather than their duration. */
    private static final int MANY = 8;

    private final Evidence evidence;
    private final Excess excess;
    private final Map<String, PoolVerdict> pools;
    private final Map<Part, List<String>> symptoms;
    private final PoolText poolText;
    private final MachineText machineText;

    CauseText(Evidence evidence, Excess excess, Map<String, PoolVerdict> pools, Map<Part, List<String>> symptoms) {
        this.evidence = evidence;
        this.excess = excess;
        this.pools = pools;
        this.symptoms = symptoms;
        this.poolText = new PoolText(evidence, excess, pools);
        this.machineText = new MachineText(evidence, excess);
    }

    /** What a part is called, and what to do about it. */
    record Told(String kind, String name, Change change, List<String> facts) {}

    /** The cause that a part stands for. */
    Cause cause(Part part, double nanos, double ofNanos) {
        Told told = told(part);
        List<String> facts = new ArrayList<>(told.facts());
        facts.addAll(callers(part));
        return new Cause(
                told.kind(),
                told.name(),
                nanos / 1e6,
                ofNanos / 1e6,
                excess.saves(Ranking.only(part)),
                told.change(),
                facts,
                symptoms(part),
                acquitted(part));
    }

    private Told told(Part part) {
        return switch (part.kind()) {
            case POOL -> poolText.pool(part);
            case QUEUE -> poolText.workers();
            case CALLER_RUNS -> poolText.executor();
            case SQL -> statement(part);
            case REDIS -> command(part);
            case HTTP -> http(part);
            case RPC -> peer(part);
            case LOG -> log();
            case LOCK, SLEEP, RESULT, FILE, SOCKET, RESOLVER, CLASS_LOADING, NATIVE, ELSEWHERE, FAILURE -> code(part);
            case LIMIT -> limit(part);
            case COMPUTING, DECODE, RUN_QUEUE, THROTTLED, COLLECTOR, JVM_PAUSE, OUTSIDE -> machineText.told(part);
            case UNEXPLAINED -> unexplained();
        };
    }

    private Told unexplained() {
        return new Told(
                "UNEXPLAINED",
                "own time of calls",
                Change.of(
                        Where.UNKNOWN, "nothing: no evidence shows what these calls did; look at /actuator/rpc again"),
                List.of("own      no thread was seen in this time; calls are short or rare"));
    }

    private Told statement(Part part) {
        double count = countPerCall(Phase.SQL);
        String text = part.name().isEmpty() ? "statements" : part.name();
        String place = placeOf(Phase.SQL);
        List<String> facts = new ArrayList<>();
        facts.add(perCall("sql", Phase.SQL));
        if (place != null) {
            facts.add("from     " + place);
        }
        if (count >= MANY && meanNanos(Phase.SQL) < evidence.targetNanos() / 4.0) {
            return new Told(
                    "MANY STATEMENTS",
                    text,
                    Change.of(
                            Where.STATEMENT,
                            "one statement in place of " + Math.round(count) + " a call (join, IN list or batch)"
                                    + at(place) + ": " + text + "; no pool size helps"),
                    facts);
        }
        if (text.equals("commit")) {
            return new Told(
                    "SLOW COMMIT",
                    "commit",
                    Change.of(
                            Where.PEER,
                            "the database's log disk or replication; fewer transactions a call" + at(place)),
                    facts);
        }
        String waiting = lockHint(text);
        return new Told(
                waiting == null ? "SLOW STATEMENT" : "ROW LOCK",
                text,
                Change.of(
                        Where.STATEMENT,
                        (waiting == null
                                        ? "this statement: its plan, an index, fewer rows" + at(place)
                                        : waiting + at(place))
                                + ": " + text + "; no pool size helps"),
                facts);
    }

    /** Who may hold a row that a writing statement waits for: a connection with an open transaction. */
    private @Nullable String lockHint(String statement) {
        String lower = statement.toLowerCase(Locale.ROOT);
        boolean writes = lower.startsWith("update")
                || lower.startsWith("delete")
                || lower.startsWith("insert")
                || lower.contains("for update");
        if (!writes) {
            return null;
        }
        for (PoolVerdict pool : pools.values()) {
            for (tern.rpc.pool.Holders.Holder holder : pool.pool().holders()) {
                String last = holder.statement();
                boolean idle =
                        !holder.isExecuting() && System.nanoTime() - holder.statementNanos() > evidence.targetNanos();
                if (last != null && idle && sharesTable(lower, last.toLowerCase(Locale.ROOT))) {
                    StackTraceElement place = holder.place();
                    return "the transaction that holds the row"
                            + (place == null ? "" : ", begun in " + ApplicationCode.shown(place))
                            + ": end it sooner; its last statement: " + last;
                }
            }
        }
        return "see who holds the row (the database's list of lock waits), then this statement";
    }

    private static boolean sharesTable(String one, String other) {
        Set<String> words = new HashSet<>(List.of(other.split("[^a-z0-9_]+")));
        for (String keyword : List.of("update", "from", "into", "join")) {
            int at = (" " + one).indexOf(" " + keyword + " ");
            if (at >= 0) {
                String[] rest = one.substring(Math.min(one.length(), at + keyword.length()))
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

    private Told command(Part part) {
        double count = countPerCall(Phase.REDIS);
        String name = part.name().isEmpty() ? "Redis commands" : part.name();
        String place = placeOf(Phase.REDIS);
        List<String> facts = new ArrayList<>();
        facts.add(perCall("redis", Phase.REDIS));
        if (place != null) {
            facts.add("from     " + place);
        }
        if (count >= MANY && meanNanos(Phase.REDIS) < evidence.targetNanos() / 4.0) {
            return new Told(
                    "MANY COMMANDS",
                    name,
                    Change.of(
                            Where.CODE,
                            "one round trip in place of " + Math.round(count) + " a call (MGET or a pipeline)"
                                    + at(place) + ": " + name),
                    facts);
        }
        boolean scan = name.startsWith("KEYS");
        return new Told(
                "SLOW REDIS COMMAND",
                name,
                Change.of(
                        Where.CODE,
                        (scan
                                        ? "SCAN in place of KEYS, which stops the server"
                                        : "this command: a smaller value, or what else the Redis server runs (SLOWLOG)")
                                + at(place) + ": " + name + "; no pool size helps"),
                facts);
    }

    private Told http(Part part) {
        String host = part.name().isEmpty() ? "HTTP peers" : part.name();
        List<String> facts = new ArrayList<>();
        facts.add(perCall("http", Phase.HTTP));
        return new Told(
                "SLOW HTTP PEER",
                host,
                Change.of(
                        Where.PEER,
                        "ask " + host + " why it is slow; meanwhile a shorter response timeout or a fallback"
                                + at(placeOf(Phase.HTTP))),
                facts);
    }

    private Told peer(Part part) {
        String service = part.name().isEmpty() ? "another service" : part.name();
        List<String> facts = new ArrayList<>();
        facts.add(perCall("took", Phase.RPC));
        return new Told(
                "PEER",
                service,
                Change.of(
                        Where.PEER,
                        "ask the diagnosis of the provider of " + service + "; meanwhile set a slow endpoint aside"
                                + at(placeOf(Phase.RPC))),
                facts);
    }

    private Told log() {
        return new Told(
                "SLOW LOG",
                "log appenders",
                new Change(
                        Where.PROPERTY,
                        "log by Log4j 2 with com.lmax:disruptor and rpc.logging.async=true; or fewer lines a call",
                        "rpc.logging.async",
                        "false",
                        "true",
                        -1),
                List.of(perCall("log", Phase.LOGGING)));
    }

    private Told limit(Part part) {
        String text = switch (part.name()) {
            case "method" ->
                "the limit of the method that refuses calls (rpc.server.methods.*.max-concurrency): raise it, or"
                        + " make the method faster";
            case "connection" ->
                "one connection sends more calls at once than rpc.server.max-in-flight-per-connection allows:"
                        + " more connections, or fewer calls at once in the caller";
            default -> "the caller reads its answers too slowly: look at the caller";
        };
        return new Told("LIMIT", part.name(), Change.of(Where.UNKNOWN, text), List.of());
    }

    private Told code(Part part) {
        StackTraceElement line = excess.lineOf(part);
        String shown = line == null ? part.name() : ApplicationCode.shown(line);
        return switch (part.kind()) {
            case LOCK ->
                told(
                        "LOCK",
                        part.name(),
                        "hold the lock for less time in " + shown + "; no number of threads helps",
                        line);
            case SLEEP -> told("CODE SLEEPS", part.name(), "no sleep in " + shown, line);
            case RESULT -> result(part, shown, line);
            case FILE ->
                told("SLOW FILE", part.name(), "the disk, or the file access in " + shown + ": not in a call", line);
            case SOCKET ->
                told("SLOW SOCKET", part.name(), "the peer that " + shown + " talks to, or its timeout", line);
            case RESOLVER ->
                told("SLOW NAME LOOKUP", part.name(), "the resolver of this machine; lookups in " + shown, line);
            case CLASS_LOADING ->
                told("CLASS LOADING", part.name(), "load or initialize the class before calls, in " + shown, line);
            case NATIVE -> told("NATIVE CODE", part.name(), "the native call in " + shown, line);
            case ELSEWHERE ->
                told("OTHER THREADS", "asynchronous work", "what completes the results of asynchronous methods", line);
            default -> told("FAILURE", part.name(), "the failure " + part.name(), line);
        };
    }

    private Told result(Part part, String shown, @Nullable StackTraceElement line) {
        Told full = poolText.fullExecutor();
        if (full != null) {
            List<String> facts = new ArrayList<>(full.facts());
            facts.add("waits    in " + shown);
            return new Told(full.kind(), full.name(), full.change(), facts);
        }
        return told(
                "WAITS FOR A RESULT",
                part.name(),
                "what completes the result that " + shown
                        + " waits for; not within the call, or with more threads for it",
                line);
    }

    private static Told told(String kind, String name, String change, @Nullable StackTraceElement line) {
        return new Told(
                kind,
                name,
                Change.of(Where.CODE, change),
                line == null ? List.of() : List.of("line     " + ApplicationCode.shown(line)));
    }

    /** The methods whose bad calls have this part. */
    private List<String> callers(Part part) {
        Map<String, Integer> methods = new java.util.TreeMap<>();
        for (Excess.Counted counted : excess.accounts) {
            if (counted.times().of(part) > 0) {
                methods.merge(counted.call().method(), 1, Integer::sum);
            }
        }
        if (methods.isEmpty()) {
            return List.of();
        }
        int all = excess.badByMethod().size();
        return List.of(
                methods.size() == 1
                        ? "only     " + methods.keySet().iterator().next() + " (1 of " + all + " methods that miss)"
                        : "methods  " + methods.size() + " of " + all + " that miss");
    }

    private List<String> symptoms(Part part) {
        List<String> brings = new ArrayList<>(symptoms.getOrDefault(part, List.of()));
        for (PoolVerdict pool : pools.values()) {
            boolean full = pool.pool().now().active() >= pool.pool().now().effectiveMax();
            boolean itself = part.kind() == Part.Kind.POOL && pool.name().equals(part.name());
            if (full && !itself && pool.pool().now().effectiveMax() > 0) {
                brings.add(pool.name() + " full: " + pool.pool().now().active() + " of "
                        + pool.pool().now().effectiveMax() + ", "
                        + pool.pool().now().waiting() + " wait");
            }
        }
        return brings;
    }

    /** What others would suspect first, with the figure that acquits it. */
    private List<String> acquitted(Part part) {
        List<String> not = new ArrayList<>();
        for (PoolVerdict pool : pools.values()) {
            boolean database = pool.isDatabase() || pool.pool().now().kind() == PoolKind.REDIS;
            if (part.kind() != Part.Kind.POOL && database && pool.reason() == PoolVerdict.Reason.UNKNOWN) {
                not.add("pool " + pool.name() + ": " + pool.pool().now().active() + " of "
                        + pool.pool().now().effectiveMax() + " in use");
            }
        }
        Machine machine = evidence.machine();
        if (machine.own() >= 0 && !machine.isFull()) {
            not.add(String.format(
                    Locale.ROOT,
                    "processors: %.1f of %.1f busy",
                    machine.own() + Math.max(0, machine.others()),
                    machine.processors()));
        }
        if (machine.collecting() >= 0 && machine.collecting() < 0.05 && part.kind() != Part.Kind.COLLECTOR) {
            not.add(String.format(Locale.ROOT, "collector: %.1f %% of the time", machine.collecting() * 100));
        }
        return not;
    }

    private double countPerCall(Phase phase) {
        return excess.accounts.stream()
                .mapToInt(counted -> counted.call().ledger().count(phase))
                .filter(count -> count > 0)
                .average()
                .orElse(0);
    }

    private double meanNanos(Phase phase) {
        double spent = 0;
        long count = 0;
        for (Excess.Counted counted : excess.accounts) {
            spent += counted.call().ledger().nanos(phase, counted.call().endedNanos());
            count += counted.call().ledger().count(phase);
        }
        return count == 0 ? 0 : spent / count;
    }

    private String perCall(String word, Phase phase) {
        return String.format(
                Locale.ROOT, "%-8s %.1f a call, %.1f ms each", word, countPerCall(phase), meanNanos(phase) / 1e6);
    }

    /** The line of the application that waits in this phase most often. */
    private @Nullable String placeOf(Phase phase) {
        StackTraceElement line = excess.lineIn(phase);
        return line == null ? null : ApplicationCode.shown(line);
    }

    private static String at(@Nullable String place) {
        return place == null ? "" : " in " + place;
    }

    static String millis(double nanos) {
        return String.format(Locale.ROOT, nanos < 10e6 ? "%.1f" : "%.0f", nanos / 1e6);
    }
}
