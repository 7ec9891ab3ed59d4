package tern.rpc.metrics;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.security.Principal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import tern.rpc.PeerText;
import tern.rpc.ServerContext;

/**
 * The number of served calls by caller. A caller is identified by the principal that an authorizer returned. Without a
 * principal, the caller is identified by its certificate or, without a certificate, by its IP address. At most {@value
 * #MAX_CALLERS} callers are counted individually. All other callers share one count. When a new caller would exceed
 * this limit, callers that have made no call for ten minutes are removed. Counting a call takes one lookup and one
 * increment, and allocates nothing. Thread-safe.
 */
public final class Callers {

    static final int MAX_CALLERS = 100;

    private static final long IDLE_NANOS = Duration.ofMinutes(10).toNanos();
    private static final long TICK_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final String HERE = "this process";

    // The key is a principal's name or an address. Strings are created only for reports.
    private final ConcurrentMap<Object, Count> known = new ConcurrentHashMap<>();
    private final Count others;
    private final AtomicLong nextCleaning;

    /** @param now the current time on the clock that times the calls */
    public Callers(long now) {
        this.others = new Count(How.OTHERS, now);
        this.nextCleaning = new AtomicLong(now);
    }

    /** The ways in which a caller can be identified. */
    public enum How {
        CERTIFICATE,
        PRINCIPAL,
        ADDRESS,
        /** The entry for all callers that are not counted individually. */
        OTHERS
    }

    /**
     * A caller.
     *
     * @param name the caller's name, escaped and at most about 200 characters long
     * @param sinceLast the time since the caller's last call, accurate to a second
     */
    public record Caller(String name, How how, long calls, long failed, Duration sinceLast) {}

    private static final class Count {
        final How how;
        final LongAdder calls = new LongAdder();
        final LongAdder failed = new LongAdder();
        volatile long lastNanos;

        Count(How how, long now) {
            this.how = how;
            this.lastNanos = now;
        }

        void ended(boolean hasFailed, long now) {
            calls.increment();
            if (hasFailed) {
                failed.increment();
            }
            if (now - lastNanos > TICK_NANOS) {
                // lastNanos is written at most once per second, because frequent writes by several processors are slow
                lastNanos = now;
            }
        }
    }

    /**
     * Adds a completed call to its caller's count.
     *
     * @param now the current time on the clock that times the calls
     */
    public void ended(ServerContext call, boolean failed, long now) {
        Object key = keyOf(call);
        Count count = known.get(key);
        (count == null ? added(key, call, now) : count).ended(failed, now);
    }

    private Count added(Object key, ServerContext call, long now) {
        if (known.size() >= MAX_CALLERS && !clean(now)) {
            return others;
        }
        return known.computeIfAbsent(key, ignored -> new Count(howOf(call), now));
    }

    /** Removes idle callers, at most once per second. Returns whether another caller can be counted individually. */
    private boolean clean(long now) {
        long due = nextCleaning.get();
        if (now - due >= 0 && nextCleaning.compareAndSet(due, now + TICK_NANOS)) {
            known.values().removeIf(count -> now - count.lastNanos > IDLE_NANOS);
        }
        return known.size() < MAX_CALLERS;
    }

    private static How howOf(ServerContext call) {
        Principal principal = call.principal();
        if (principal == null) {
            return How.ADDRESS;
        }
        return principal == call.peerPrincipal() ? How.CERTIFICATE : How.PRINCIPAL;
    }

    private static Object keyOf(ServerContext call) {
        Principal principal = call.principal();
        if (principal != null) {
            return name(principal);
        }
        SocketAddress address = call.remoteAddress();
        if (address instanceof InetSocketAddress internet && internet.getAddress() != null) {
            return internet.getAddress();
        }
        return address == null ? HERE : address.getClass();
    }

    private static String name(Principal principal) {
        String name = principal.getName();
        return name == null ? "" : name;
    }

    static String nameOf(ServerContext call) {
        return text(keyOf(call));
    }

    private static String text(Object key) {
        if (key instanceof InetAddress address) {
            return address.getHostAddress();
        }
        return key instanceof Class<?> kind ? kind.getSimpleName() : PeerText.name(key.toString());
    }

    /**
     * Returns the callers with their numbers of calls, highest number first. One entry for all other callers follows.
     *
     * @param now the current time on the clock that times the calls
     */
    public List<Caller> mostCallsFirst(long now) {
        List<Caller> callers = new ArrayList<>();
        for (Map.Entry<Object, Count> entry : known.entrySet()) {
            callers.add(caller(text(entry.getKey()), entry.getValue(), now));
        }
        callers.sort(Comparator.comparingLong(Caller::calls).reversed());
        if (others.calls.sum() != 0) {
            callers.add(caller("others", others, now));
        }
        return callers;
    }

    private static Caller caller(String name, Count count, long now) {
        return new Caller(
                name,
                count.how,
                count.calls.sum(),
                count.failed.sum(),
                Duration.ofNanos(Math.max(0, now - count.lastNanos)));
    }
}
