package tern.rpc.pool;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Adds up the sizes of the bodies of HTTP exchanges, by the name of the exchange. A peer that suddenly answers with
 * megabytes answers as quickly as usual: the time passes in the thread that reads the body, in the code that decodes
 * it, and in the collector. Thread-safe.
 */
public final class BodySizes {

    /** The sizes of the answers that calls and other threads of this process have received. */
    public static final BodySizes ANSWERS = new BodySizes();

    /** The sizes of the requests that this process has sent. */
    public static final BodySizes REQUESTS = new BodySizes();

    private static final int MAX_EXCHANGES = 1_024;

    /**
     * The length of the periods over which sizes are added up. The sums of the current and the previous period are
     * used.
     */
    private static final long PERIOD_NANOS = 5_000_000_000L;

    /** If the current period contains at least {@value} bodies, the mean is computed from this period alone. */
    private static final int ENOUGH = 8;

    private final ConcurrentMap<String, Exchange> exchanges = new ConcurrentHashMap<>();
    private volatile long turnedNanos; // the beginning of the current period

    private BodySizes() {}

    private static final class Period {
        final LongAdder bodies = new LongAdder();
        final LongAdder bytes = new LongAdder();
    }

    private static final class Exchange {
        volatile Period present = new Period();
        volatile Period last = new Period();

        double mean() {
            long bodies = present.bodies.sum();
            long bytes = present.bytes.sum();
            if (bodies < ENOUGH) {
                bodies += last.bodies.sum();
                bytes += last.bytes.sum();
            }
            return bodies == 0 ? -1 : (double) bytes / bodies;
        }
    }

    /**
     * Adds one body. If there are too many exchanges, the bodies of all other exchanges are ignored.
     *
     * @param exchange the name of the exchange without its result, such as {@code GET stock:8080/levels}
     */
    public void add(String exchange, long bytes) {
        Exchange known = exchanges.get(exchange);
        if (known == null) {
            if (exchanges.size() >= MAX_EXCHANGES) {
                return;
            }
            known = exchanges.computeIfAbsent(exchange, name -> new Exchange());
        }
        Period period = known.present;
        period.bodies.increment();
        period.bytes.add(bytes);
    }

    /** Begins a new period if the current one is long enough. Only the diagnosis calls this. */
    public static void turn(long now) {
        ANSWERS.begin(now);
        REQUESTS.begin(now);
    }

    private void begin(long now) {
        if (Math.abs(now - turnedNanos) < PERIOD_NANOS) {
            return;
        }
        turnedNanos = now;
        exchanges.values().forEach(exchange -> {
            exchange.last = exchange.present;
            exchange.present = new Period();
        });
    }

    /** Returns the mean size of a body of the given exchange in the last seconds; -1 if it is unknown. */
    public double mean(String exchange) {
        Exchange known = exchanges.get(exchange);
        return known == null ? -1 : known.mean();
    }

    /** Returns the number of bodies of the given exchange in the last seconds. */
    public long counted(String exchange) {
        Exchange known = exchanges.get(exchange);
        return known == null ? 0 : known.present.bodies.sum() + known.last.bodies.sum();
    }

    /** Returns the mean size of a body in the last seconds, by exchange. */
    public Map<String, Double> means() {
        Map<String, Double> means = new HashMap<>();
        exchanges.forEach((name, exchange) -> {
            double mean = exchange.mean();
            if (mean >= 0) {
                means.put(name, mean);
            }
        });
        return means;
    }

    /** Returns a size as text, such as {@code 12 MB}. */
    public static String text(double bytes) {
        if (bytes < 1_000) {
            return Math.round(bytes) + " bytes";
        }
        boolean isKilo = bytes < 999_500;
        double amount = bytes / (isKilo ? 1e3 : 1e6);
        String number = amount < 9.95 ? String.format(Locale.ROOT, "%.1f", amount) : Long.toString(Math.round(amount));
        return (number.endsWith(".0") ? number.substring(0, number.length() - 2) : number) + (isKilo ? " KB" : " MB");
    }
}
