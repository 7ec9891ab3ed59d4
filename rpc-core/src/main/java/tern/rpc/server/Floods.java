package tern.rpc.server;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.NanoClock;
import tern.rpc.SeldomWarning;
import tern.rpc.limit.Share;
import tern.rpc.metrics.RpcMeter;
import tern.rpc.metrics.RpcMeters;

/**
 * Remembers up to eight tenants (callers that the server distinguishes) with the most admitted calls, for error
 * messages, logs and meters. A tenant is remembered only when one of its calls is refused. Thread-safe. A race can
 * remove a tenant until another of its calls is refused.
 */
final class Floods {

    private static final Logger LOG = LoggerFactory.getLogger(Floods.class);

    /** The maximum number of remembered tenants. */
    private static final int REMEMBERED = 8;

    /** The maximum number of tenants named in one message. */
    private static final int NAMED = 3;

    /** A message names only tenants that have at least 1/{@value} of all admitted calls. */
    private static final int NAMED_PART = 20;

    private static final int MIN_NAMED = 2;

    /**
     * The maximum number of tenants with their own meter, so that an attacker with many addresses cannot fill the meter
     * registry.
     */
    private static final int METERS = 32;

    private static final String OTHERS = "others";
    private static final Duration BETWEEN_WARNINGS = Duration.ofSeconds(10);

    private final AtomicReferenceArray<Share> largest = new AtomicReferenceArray<>(REMEMBERED);
    private final ConcurrentMap<String, LongAdder> refused = new ConcurrentHashMap<>();
    private final RpcMeters meters;
    private final SeldomWarning warning;

    Floods(RpcMeters meters, NanoClock clock) {
        this.meters = meters;
        this.warning = new SeldomWarning(LOG, clock, BETWEEN_WARNINGS);
    }

    /** Remembers the tenant of a refused call, if this tenant is among the tenants with the most admitted calls. */
    void seen(Share share) {
        int smallest = 0;
        int fewest = Integer.MAX_VALUE;
        for (int i = 0; i < REMEMBERED; i++) {
            Share known = largest.get(i);
            if (known == share) {
                return;
            }
            int held = known == null ? -1 : known.held();
            if (held < fewest) {
                fewest = held;
                smallest = i;
            }
        }
        if (share.held() > fewest) {
            largest.set(smallest, share);
        }
    }

    /** Records that a call was refused because its tenant has too many admitted calls while other tenants wait. */
    void refused(Share share, int inside) {
        String tenant = share.tenant();
        LongAdder count = refused.get(tenant);
        if (count == null) {
            count = newCount(tenant);
        }
        count.increment();
        warning.warn(() -> warning(tenant, describe(inside)), null);
    }

    private static String warning(String tenant, String largest) {
        return "Calls of tenants with too many admitted calls are refused, because other tenants need room. The last"
                + " refused call came from " + tenant + (largest.isEmpty() ? "" : ": " + largest);
    }

    private LongAdder newCount(String tenant) {
        String name = refused.size() < METERS ? tenant : OTHERS;
        return refused.computeIfAbsent(name, made -> {
            LongAdder count = new LongAdder();
            meters.counter(RpcMeter.SERVER_FLOODED, count, LongAdder::sum, RpcMeter.TENANT, made);
            return count;
        });
    }

    /**
     * Describes the tenants with the most admitted calls:
     * {@code 10.0.0.7 holds 180 and 10.0.0.8 holds 16 of 200 calls}. Returns an empty string if no tenant has many
     * calls.
     *
     * @param inside the number of admitted calls from all tenants
     */
    String describe(int inside) {
        List<Share> known = new ArrayList<>();
        for (int i = 0; i < REMEMBERED; i++) {
            Share share = largest.get(i);
            if (share != null && share.held() >= Math.max(MIN_NAMED, inside / NAMED_PART)) {
                known.add(share);
            }
        }
        if (known.isEmpty()) {
            return "";
        }
        known.sort(Comparator.comparingInt(Share::held).reversed());
        StringBuilder text = new StringBuilder();
        int named = Math.min(NAMED, known.size());
        for (int i = 0; i < named; i++) {
            text.append(i == 0 ? "" : i == named - 1 ? " and " : ", ")
                    .append(known.get(i).tenant())
                    .append(" holds ")
                    .append(known.get(i).held());
        }
        return text.append(" of ").append(inside).append(" calls").toString();
    }
}
