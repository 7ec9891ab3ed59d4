package tern.rpc.diagnosis.rule;

import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.pool.ConnectionUse;
import tern.rpc.diagnosis.sample.Statements;
import tern.rpc.pool.ApplicationCode;
import tern.rpc.pool.Holders;
import tern.rpc.pool.Holders.Holder;
import tern.rpc.pool.PoolSource;

/**
 * Inspects the holders of the connections of all pools several times a second while calls miss the latency target. Not
 * thread-safe: only the diagnosis thread uses it.
 */
public final class HeldConnections {

    /**
     * The interval after which the weight of all earlier inspections is halved, because old inspections may belong to
     * an earlier period of late calls with a different cause.
     */
    private static final long HALF_LIFE_NANOS = TimeUnit.SECONDS.toNanos(5);

    /** The maximum number of thread stacks to read in one inspection. */
    private static final int MAX_READ = 4;

    private final Map<Holders, ConnectionUse> uses = new IdentityHashMap<>();
    private long halved; // the time when the weights of all inspections were last halved; 0 before the first inspection

    public void look(List<PoolSource> pools, long now) {
        if (halved == 0) {
            halved = now;
        } else if (now - halved >= HALF_LIFE_NANOS) {
            halved = now;
            uses.values().forEach(ConnectionUse::halve);
        }
        int read = 0;
        for (PoolSource pool : pools) {
            Holders holders = pool.holders();
            if (holders == null) {
                continue;
            }
            for (Holder holder : holders.all()) {
                if (isUsed(holder)) {
                    boolean reads = read < MAX_READ && isTelling(holder);
                    read += reads ? 1 : 0;
                    use(holders).add(holder, reads ? line(holder) : taken(holder));
                }
            }
        }
    }

    /**
     * Returns whether the holder still uses its connection. The thread of a call that has ended, for example because
     * its deadline has passed, may still be running an operation or waiting for another connection.
     */
    private static boolean isUsed(Holder holder) {
        boolean works = holder.isExecuting() || holder.call().phase().isOperation();
        return !holder.isAbandoned() || (holder.call().isOpen() && works);
    }

    private ConnectionUse use(Holders holders) {
        return uses.computeIfAbsent(holders, unknown -> new ConnectionUse());
    }

    /**
     * Returns whether the diagnosis shows the code of the thread that holds a connection. This is the case if the
     * thread serves no call, or if its call is waiting for another connection.
     */
    private static boolean isTelling(Holder holder) {
        return !holder.call().isOpen() || holder.call().phase() == Phase.JDBC_CONNECTION;
    }

    private static @Nullable String line(Holder holder) {
        String place = Statements.place(holder);
        return place.isEmpty() ? taken(holder) : place;
    }

    private static @Nullable String taken(Holder holder) {
        StackTraceElement place = holder.place();
        return place == null ? null : ApplicationCode.shown(place);
    }

    /** Returns the activities of the holders of the pool's connections; null if nobody has held a connection. */
    @Nullable
    public ConnectionUse of(@Nullable Holders holders) {
        return holders == null ? null : uses.get(holders);
    }

    public void clear() {
        uses.clear();
        halved = 0;
    }
}
