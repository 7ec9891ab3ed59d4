package tern.rpc.diagnosis.pool;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Account;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.pool.Holders.Holder;

/**
 * The holders of a pool's connections, as found by inspections several times a second. A single inspection shows only
 * the current holders. If there are many inspections, the share of inspections that find a holder is about the share of
 * time that it holds a connection. Not thread-safe: only the diagnosis thread uses it.
 */
public final class ConnectionUse {

    /** The shares of the holders count as known once inspections have found at least {@value} connections in use. */
    private static final int MIN_LOOKS = 20;

    private static final double HALF = 0.5;
    private static final int MAX_PLACES = 32;
    private static final Pattern NUMBERS = Pattern.compile("[-#\\d]+$");

    private final Times work = new Times(); // what calls do while they hold a connection
    // for each holder that serves no call, the number of inspections that found it
    private final Map<Place, Double> outside = new HashMap<>();
    // for each holder that waits for a second connection, the number of inspections that found it
    private final Map<Place, Double> nested = new HashMap<>();
    private double looks;

    /**
     * The code of a holder.
     *
     * @param threads the name of the thread without trailing digits
     * @param line the application code that the thread runs; null if it is unknown
     * @param operation the running statement of a holder outside of calls, or the pool whose connection a call waits
     *     for; null if there is none
     */
    record Place(
            String threads, @Nullable String line, @Nullable String operation) {}

    /**
     * Counts a connection that an inspection has found in use.
     *
     * @param line the application code that the holder's thread runs; null if it is unknown
     */
    public void add(Holder holder, @Nullable String line) {
        looks++;
        CallLedger call = holder.call();
        String statement = holder.isExecuting() ? holder.statement() : null;
        String threads = NUMBERS.matcher(holder.thread().getName()).replaceFirst("");
        if (!call.isOpen()) {
            add(outside, new Place(threads, line, statement));
            return;
        }
        Phase phase = call.phase();
        if (statement != null) {
            work.add(new Part(Kind.SQL, statement), 1);
        } else if (phase == Phase.JDBC_CONNECTION) {
            add(nested, new Place(threads, line, call.running(phase)));
        } else {
            String running = phase.isOperation() ? call.running(phase) : null;
            work.add(phase.isOperation() ? Account.part(phase, running == null ? "" : running) : Account.OWN, 1);
        }
    }

    private static void add(Map<Place, Double> places, Place place) {
        if (places.size() < MAX_PLACES || places.containsKey(place)) {
            places.merge(place, 1.0, Double::sum);
        }
    }

    public void halve() {
        looks /= 2;
        work.scale(HALF);
        for (Map<Place, Double> places : List.of(outside, nested)) {
            places.replaceAll((place, count) -> count / 2);
            places.values().removeIf(count -> count < HALF / 2);
        }
    }

    public boolean isKnown() {
        return looks >= MIN_LOOKS;
    }

    /** Returns whether threads that serve no call hold at least half of the connections in use. */
    public boolean isMostlyOutside() {
        return isKnown() && sum(outside) >= HALF * looks;
    }

    /**
     * Returns whether at least half of the connections in use are held by calls waiting for another connection from the
     * given pool.
     */
    boolean isMostlyNested(String pool) {
        return isKnown() && sum(nestedIn(pool)) >= HALF * looks;
    }

    /** Returns the share of the connections in use that are held by threads that serve no call, in percent. */
    long percentOutside() {
        return Math.round(100 * sum(outside) / Math.max(1, looks));
    }

    long percentNested(String pool) {
        return Math.round(100 * sum(nestedIn(pool)) / Math.max(1, looks));
    }

    /** Returns the most frequent holder that serves no call; null if there is none. */
    @Nullable
    Place outsidePlace() {
        return most(outside);
    }

    /** Returns the most frequent code of calls waiting for another connection; null if there is none. */
    @Nullable
    Place nestedPlace(String pool) {
        return most(nestedIn(pool));
    }

    private Map<Place, Double> nestedIn(String pool) {
        Map<Place, Double> ofPool = new HashMap<>(nested);
        ofPool.keySet().removeIf(place -> {
            String waited = place.operation();
            return waited != null && !waited.isEmpty() && !waited.equals("jdbc") && !waited.equals(pool);
        });
        return ofPool;
    }

    private static double sum(Map<Place, Double> places) {
        return places.values().stream().mapToDouble(Double::doubleValue).sum();
    }

    private static @Nullable Place most(Map<Place, Double> places) {
        return places.entrySet().stream()
                .max(Map.Entry.<Place, Double>comparingByValue()
                        .thenComparing(Comparator.comparing(entry -> String.valueOf(entry.getKey()))))
                .map(Map.Entry::getKey)
                .orElse(null);
    }

    /**
     * Returns how the holders of connections spend the time for which they hold them, as the share of each kind of
     * work. The key {@code Account.OWN} stands for the time outside of operations.
     */
    public Times work() {
        Times shares = new Times();
        shares.addAll(work, 1 / Math.max(1, looks));
        return shares;
    }
}
