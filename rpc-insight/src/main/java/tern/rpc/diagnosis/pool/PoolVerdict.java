package tern.rpc.diagnosis.pool;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.cause.QueueModel;
import tern.rpc.pool.ApplicationCode;
import tern.rpc.pool.Holders.Holder;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSnapshot;

/**
 * The reason why calls wait for a connection from a pool.
 *
 * @param reason the first reason that applies
 * @param place the code that holds the connections; null if unknown
 * @param user the thread and the last operation of the connection that has been held longest; null if unknown
 * @param facts the evidence, one fact per short line
 */
public record PoolVerdict(
        ObservedPool pool,
        Reason reason,
        @Nullable String place,
        @Nullable User user,
        List<String> facts) {

    /**
     * The user of a connection.
     *
     * @param threads the name of its thread without trailing digits
     * @param operation the last statement or command on the connection; null if unknown
     */
    public record User(String threads, @Nullable String operation) {}

    private static final Pattern NUMBERS = Pattern.compile("[-#\\d]+$");

    /** If more than {@value} of a pool's connections are in use on average, some calls are assumed to wait for one. */
    private static final double FULL = 0.8;

    private static final double HALF = 0.5;

    /** The maximum pool size that is recommended. */
    private static final int MAX_SIZE = 2_000;

    /**
     * If less than {@value} of a pool's connections are in use on average, the pool counts as large enough, and waits
     * are assumed to have a different reason.
     */
    private static final double UNUSED = 0.1;

    /** Connections held for a long time are assumed to cause waits if they make up at least {@value} of the pool. */
    private static final double MUCH = 0.3;

    private static final double USUAL_FACTOR = 1.5;

    /** A connection counts as held for the usual time if it is held for at most {@value} times as long as usual. */
    private static final double SAME_FACTOR = 1.15;

    private static final long ABANDONED_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** A connection counts as held for a long time if it is held for at least {@value} times as long as usual. */
    private static final int LONG_HOLD = 20;

    private static final long MIN_LONG_HOLD_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** The reasons, in the order in which they are checked. */
    public enum Reason {
        /** Calls that took connections have ended without returning the connections. */
        LEAKED,
        /** Code that runs outside of calls holds connections for a long time. */
        HELD_BY_OTHERS,
        /** Calls that hold a connection wait for a second one. */
        NESTED,
        /** No connection is idle, and new connections cannot be opened fast enough. */
        OPENING,
        /**
         * Connections are idle, but the pool hands them out slowly, for example because it tests each connection first.
         */
        CHECKING,
        /** Calls hold connections longer than usual. */
        SLOW_TO_USE,
        /**
         * The pool lends connections in the order of requests. A returned connection stays unused until the first
         * thread in the queue wakes up.
         */
        FAIR,
        /** Calls need more connections than the pool has. */
        TOO_SMALL,
        /** The reason is unknown: the pool has free connections, so calls probably wait for something else. */
        UNKNOWN
    }

    /**
     * Finds the reason why calls wait for the given pool.
     *
     * @param nested the holders whose calls wait for a second connection
     * @param lateWithoutWaits whether calls would miss the latency target even if no call waited for a connection
     * @param waitsMuch whether the wait for the pool takes a large part of the target
     * @param burst the number of calls that arrive at once, if they need more connections than the pool has; otherwise
     *     0
     */
    public static PoolVerdict of(
            ObservedPool pool,
            double seconds,
            long now,
            List<Holder> nested,
            boolean lateWithoutWaits,
            boolean waitsMuch,
            int burst) {
        PoolSnapshot snapshot = pool.now();
        int size = snapshot.effectiveMax();
        double takings = pool.since().taken() / seconds;
        double hold = pool.holdNanos() / 1e9;
        double needed = hold < 0 ? -1 : takings * hold;
        List<Holder> lost = new ArrayList<>();
        List<Holder> others = new ArrayList<>();
        List<Holder> calls = new ArrayList<>();
        sort(pool, now, lost, others, calls);
        List<String> facts = new ArrayList<>();
        if (needed >= 0) {
            facts.add(String.format(
                    Locale.ROOT,
                    "use      %.0f uses per second of %.1f ms each keep %.1f of %d busy",
                    takings,
                    hold * 1e3,
                    needed,
                    size));
        }
        if (needed < 0 && size > 0 && snapshot.active() >= size) {
            facts.add("use      " + snapshot.active() + " of " + size + " are in use, " + snapshot.waiting() + " wait");
        }
        PoolSizes.Reduced reduced = pool.reduced();
        if (reduced != null) {
            facts.add(String.format(
                    Locale.ROOT,
                    "size     %d since %.0f s, before %d",
                    size,
                    (now - reduced.atNanos()) / 1e9,
                    reduced.from()));
        }
        if (burst > 0) {
            facts.add("burst    up to " + burst + " calls arrive at once");
        }
        boolean waits = snapshot.waiting() > 0 || pool.since().refused() > 0;
        if (explains(lost.size(), needed, size)) {
            return held(pool, Reason.LEAKED, lost, now, facts);
        }
        if (explains(others.size(), needed, size)) {
            return held(pool, Reason.HELD_BY_OTHERS, others, now, facts);
        }
        ConnectionUse use = pool.use();
        boolean isUseKnown = use != null && use.isKnown();
        if (use != null && (waits || waitsMuch) && use.isMostlyNested(snapshot.name())) {
            return nested(pool, use, facts);
        }
        if (use != null && (waits || waitsMuch) && use.isMostlyOutside()) {
            return outside(pool, use, facts);
        }
        if (!isUseKnown && waits && !nested.isEmpty() && 2 * nested.size() >= size) {
            return held(pool, Reason.NESTED, nested, now, facts);
        }
        List<Holder> outside = outside(pool);
        boolean isOutside = outside.size() >= HALF * size && snapshot.active() >= FULL * size;
        if (!isUseKnown && (waits || waitsMuch) && isOutside) {
            return held(pool, Reason.HELD_BY_OTHERS, outside, now, facts);
        }
        boolean lends = snapshot.kind() != PoolKind.EXECUTOR && snapshot.kind() != PoolKind.WORKERS;
        // The recorded holders of a Redis pool do not include calls, so it is unknown which calls hold its connections.
        boolean unknown = snapshot.kind() != PoolKind.JDBC || !pool.recordsHolders();
        if (lends
                && unknown
                && (waits || waitsMuch)
                && snapshot.active() >= size
                && needed >= 0
                && needed < HALF * size) {
            facts.add(String.format(
                    Locale.ROOT,
                    "proof    %d are in use, but the recorded uses explain only %.1f",
                    snapshot.active(),
                    needed));
            return new PoolVerdict(pool, Reason.LEAKED, null, null, facts);
        }
        boolean opens = lends && snapshot.active() < size && snapshot.idle() == 0 && waits;
        // If calls arrive in bursts, they may wait although few connections are in use on average.
        boolean waitsUnused = waitsMuch && burst == 0 && needed >= 0 && needed < UNUSED * size;
        if (opens || (lends && waitsUnused && snapshot.active() + snapshot.idle() < size)) {
            return new PoolVerdict(pool, Reason.OPENING, null, null, facts);
        }
        boolean checks = snapshot.idle() > 0 || (!unknown && isMostlyUnlent(pool));
        if (lends && waitsUnused && checks && pool.since().refused() <= 0) {
            return new PoolVerdict(pool, Reason.CHECKING, null, null, facts);
        }
        double usual = pool.usualHoldNanos() / 1e9;
        boolean slower = usual > 0 && hold > USUAL_FACTOR * usual && takings * usual <= FULL * size;
        if (slower) {
            facts.add(String.format(Locale.ROOT, "held     %.1f ms each, usually %.1f ms", hold * 1e3, usual * 1e3));
        }
        if (slower || lateWithoutWaits || explains(calls.size(), needed, size)) {
            return new PoolVerdict(pool, Reason.SLOW_TO_USE, null, null, facts);
        }
        if (waits && snapshot.fair() && snapshot.kind() == PoolKind.JDBC && needed >= 0 && needed <= FULL * size) {
            return new PoolVerdict(pool, Reason.FAIR, null, null, facts);
        }
        // A few connections that are held for a long time can make all other calls wait even though the pool is not
        // busy on average.
        if (needed > FULL * size
                || (waitsMuch && needed >= 0)
                || ((snapshot.waiting() > 0 || waitsMuch) && snapshot.active() >= size)) {
            return new PoolVerdict(pool, Reason.TOO_SMALL, null, null, facts);
        }
        return new PoolVerdict(pool, Reason.UNKNOWN, null, null, facts);
    }

    /**
     * Returns whether connections held for a long time explain the waits: the pool is large enough for its normal use,
     * but too small without these connections.
     */
    private static boolean explains(int kept, double needed, int size) {
        double used = Math.max(0, needed);
        return kept > 0 && used <= FULL * size && (used + kept > FULL * size || kept >= MUCH * size);
    }

    /**
     * Returns whether at least half of the busy connections have no holder. The pool is then probably checking these
     * connections before it lends them.
     */
    private static boolean isMostlyUnlent(ObservedPool pool) {
        int active = pool.now().active();
        return active > 0 && active - pool.holders().size() >= HALF * active;
    }

    /**
     * Sorts the connections that are held for a long time into three lists: connections no longer in use, connections
     * held outside calls, and connections held by running calls.
     */
    private static void sort(ObservedPool pool, long now, List<Holder> lost, List<Holder> others, List<Holder> calls) {
        double longHold = Math.max((double) MIN_LONG_HOLD_NANOS, LONG_HOLD * pool.usualHoldNanos());
        for (Holder holder : pool.holders()) {
            long age = now - holder.sinceNanos();
            if (pool.lost().contains(holder) && age >= ABANDONED_NANOS) {
                lost.add(holder);
            } else if (age >= longHold) {
                (holder.call().isOpen() ? calls : others).add(holder);
            }
        }
    }

    /** Returns the holders of connections whose threads serve no call and still use the connections. */
    private static List<Holder> outside(ObservedPool pool) {
        return pool.holders().stream()
                .filter(holder -> !holder.call().isOpen() && !holder.isAbandoned())
                .toList();
    }

    /** Returns the verdict that calls holding a connection are waiting for another connection. */
    private static PoolVerdict nested(ObservedPool pool, ConnectionUse use, List<String> facts) {
        ConnectionUse.Place place = use.nestedPlace(pool.now().name());
        List<String> all = new ArrayList<>();
        all.add("proof    " + use.percentNested(pool.now().name())
                + " % of the connections in use are held by calls that wait for another one");
        all.addAll(facts);
        return new PoolVerdict(pool, Reason.NESTED, place == null ? null : place.line(), null, all);
    }

    /** Returns the verdict that the connections are held by threads that serve no call. */
    private static PoolVerdict outside(ObservedPool pool, ConnectionUse use, List<String> facts) {
        ConnectionUse.Place place = use.outsidePlace();
        List<String> all = new ArrayList<>();
        all.add("proof    " + use.percentOutside()
                + " % of the connections in use are held by threads that serve no call"
                + (place == null ? "" : ", most of them by thread " + place.threads() + "*"));
        all.addAll(facts);
        User user = place == null ? null : new User(place.threads(), place.operation());
        return new PoolVerdict(pool, Reason.HELD_BY_OTHERS, place == null ? null : place.line(), user, all);
    }

    private static PoolVerdict held(
            ObservedPool pool, Reason reason, List<Holder> holders, long now, List<String> facts) {
        Map<String, Integer> places = new TreeMap<>();
        long oldest = 0;
        boolean executing = false;
        User user = null;
        for (Holder holder : holders) {
            StackTraceElement taken = holder.place();
            if (taken != null) {
                places.merge(ApplicationCode.shown(taken), 1, Integer::sum);
            }
            if (now - holder.sinceNanos() > oldest) {
                oldest = now - holder.sinceNanos();
                executing = holder.isExecuting();
                user = new User(NUMBERS.matcher(holder.thread().getName()).replaceFirst(""), holder.statement());
            }
        }
        String place = places.entrySet().stream()
                .max(Map.Entry.comparingByValue())
                .map(Map.Entry::getKey)
                .orElse(null);
        if (place == null && reason == Reason.HELD_BY_OTHERS) {
            place = placeNow(holders);
        }
        List<String> all = new ArrayList<>();
        all.add(String.format(
                Locale.ROOT,
                "taken    %s (%d of %d), oldest %.0f s%s",
                place == null ? "in unrecorded code" : place,
                holders.size(),
                pool.now().effectiveMax(),
                oldest / 1e9,
                user == null ? "" : ", thread " + user.threads + "*"));
        all.add(
                switch (reason) {
                    case LEAKED -> "proof    the calls that took these connections have ended";
                    case NESTED -> "proof    the calls that took these connections wait for another one";
                    default ->
                        executing
                                ? "proof    a statement runs on the connection"
                                : "proof    no statement runs on the connection";
                });
        if (user != null && user.operation != null) {
            all.add("last     " + user.operation);
        }
        all.addAll(facts);
        return new PoolVerdict(pool, reason, place, user, all);
    }

    /**
     * Returns the line of application code that one of the holders' threads is running; null if no such thread runs
     * application code.
     */
    private static @Nullable String placeNow(List<Holder> holders) {
        for (Holder holder : holders) {
            StackTraceElement frame = ApplicationCode.first(holder.thread().getStackTrace());
            if (frame != null) {
                return ApplicationCode.shown(frame);
            }
        }
        return null;
    }

    /**
     * Returns whether the pool is full and calls wait for it, although its connections are held about as long as usual.
     */
    public boolean isShortOfPlaces() {
        PoolSnapshot now = pool.now();
        double hold = pool.holdNanos();
        double usual = pool.usualHoldNanos();
        boolean asUsual = usual > 0 && hold >= 0 && hold <= USUAL_FACTOR * usual;
        return asUsual && now.waiting() > 0 && now.active() >= now.effectiveMax();
    }

    /** Returns whether connections are held longer or tasks take longer than usual. */
    public boolean isSlower() {
        double usual = pool.usualHoldNanos();
        return usual > 0 && pool.holdNanos() > USUAL_FACTOR * usual;
    }

    /** Returns how long connections are held, as a multiple of the usual time; 1 if unknown. */
    public double timesLonger() {
        double usual = pool.usualHoldNanos();
        return usual > 0 && pool.holdNanos() >= 0 ? pool.holdNanos() / usual : 1;
    }

    /** Returns whether connections are held for about as long as usual. */
    public boolean isHeldAsUsual() {
        double usual = pool.usualHoldNanos();
        return usual > 0 && pool.holdNanos() <= SAME_FACTOR * usual;
    }

    /** Returns a copy whose reason is that the pool is too small. */
    public PoolVerdict tooSmall() {
        return new PoolVerdict(pool, Reason.TOO_SMALL, place, user, facts);
    }

    /** Returns a copy whose reason is that connections are never returned. */
    public PoolVerdict leaked() {
        List<String> all = new ArrayList<>(facts);
        all.add("proof    " + pool.now().active()
                + " are in use, but none was taken or returned in the observed period," + " and no thread uses one");
        return new PoolVerdict(pool, Reason.LEAKED, place, user, all);
    }

    /** Returns a copy whose reason is that the pool opens connections slowly. */
    public PoolVerdict opening() {
        return new PoolVerdict(pool, Reason.OPENING, place, user, facts);
    }

    /** Returns a copy whose reason is that the pool checks connections slowly. */
    public PoolVerdict checking() {
        return new PoolVerdict(pool, Reason.CHECKING, place, user, facts);
    }

    /** Returns the reason why calls waited for the pool of the given wait; null if the pool is unknown. */
    public static @Nullable PoolVerdict find(Map<String, PoolVerdict> pools, Part wait) {
        ObservedPool pool =
                ObservedPool.find(pools.values().stream().map(PoolVerdict::pool).toList(), wait);
        return pool == null ? null : pools.get(pool.now().name());
    }

    /**
     * Returns the smallest size that keeps waits below a limit. Returns -1 if no size that the library accepts is large
     * enough, or if it is unknown how long connections are used.
     */
    public int sizeFor(double seconds, double limitNanos) {
        double takings = pool.since().taken() / seconds;
        double hold = pool.holdNanos();
        if (hold < 0) {
            return -1;
        }
        // Requests that did not get a connection in time needed one, too, so they are added to the number of uses.
        double waiting = Math.max(0, pool.since().refused()) / seconds;
        double busy = (takings + waiting) * hold / 1e9;
        int max = (int) pool.now()
                .setting(PoolSetting.Use.MAX)
                // a maximum size that the application's code sets is ignored, because the developer can change the code
                .filter(setting -> setting.property().contains("."))
                .map(setting -> setting.accepted().nearest(Integer.MAX_VALUE))
                .orElse(pool.now().kind() == PoolKind.EXECUTOR ? (long) MAX_SIZE : -1L)
                .longValue();
        return QueueModel.placesFor(busy, hold, limitNanos, Math.min(max, MAX_SIZE));
    }

    public String name() {
        return pool.now().name();
    }

    /**
     * Returns a copy with a different reason: threads that serve no call hold the connections. This reason applies if
     * the calls themselves are not slower.
     */
    public PoolVerdict heldByOthers() {
        List<Holder> outside = outside(pool);
        ConnectionUse use = pool.use();
        if (use != null && use.isMostlyOutside()) {
            return outside(pool, use, facts);
        }
        return outside.isEmpty()
                ? new PoolVerdict(pool, Reason.HELD_BY_OTHERS, "threads that serve no call", null, facts)
                : held(pool, Reason.HELD_BY_OTHERS, outside, System.nanoTime(), facts);
    }

    /** Returns whether connections have leaked or are held outside of calls. */
    public boolean isHeld() {
        return reason == Reason.LEAKED || reason == Reason.HELD_BY_OTHERS;
    }

    /** Returns text for one of the pool's resources, such as {@code a thread of "mail"}. */
    public String resource() {
        return switch (pool.now().kind()) {
            case WORKERS -> "a worker";
            case EXECUTOR -> "a thread of \"" + name() + "\"";
            case LOGGING -> "room in \"" + name() + "\"";
            case JDBC, REDIS, HTTP -> "a connection of \"" + name() + "\"";
        };
    }

    public boolean isDatabase() {
        return pool.now().kind() == PoolKind.JDBC;
    }
}
