package tern.rpc.diagnosis.pool;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Account;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.pool.PoolSnapshot;

/**
 * Determines which kind of peer a call waits for: a database, Redis, or a peer over HTTP or RPC. A wait for a
 * connection has the same kind as the operations on the connection.
 */
public final class PeerKinds {

    /** The beginnings of the names of stores that do not answer. */
    private static final List<String> STORES = List.of("database", "Redis");

    private final Map<String, PoolVerdict> pools;

    public PeerKinds(Map<String, PoolVerdict> pools) {
        this.pools = pools;
    }

    /** Returns the kind of peer used by operations of the given phase; null if the phase does not involve a peer. */
    public static @Nullable Kind of(@Nullable Phase phase) {
        return phase == null
                ? null
                : switch (phase) {
                    case SQL, JDBC_CONNECTION -> Kind.SQL;
                    case REDIS, REDIS_CONNECTION -> Kind.REDIS;
                    case HTTP, HTTP_CONNECTION -> Kind.HTTP;
                    case RPC -> Kind.RPC;
                    default -> null;
                };
    }

    /**
     * Returns the kind of peer that the given wait is for; null if the call does not wait for a peer.
     *
     * @param ledger the ledger of the call; it shows whether a wait without a known pool is for an executor or for a
     *     data source
     */
    @Nullable
    public Kind of(Part part, CallLedger ledger) {
        return switch (part.kind()) {
            case SQL, REDIS, HTTP, RPC, SOCKET -> part.kind();
            case POOL -> ofPool(part, ledger);
            default -> null;
        };
    }

    private @Nullable Kind ofPool(Part wait, CallLedger ledger) {
        Kind known = ofPool(wait);
        if (known != null) {
            return known;
        }
        for (NamedTimes.Entry entry : ledger.named()) {
            if (entry.name().equals(wait.name())) {
                return of(entry.kind());
            }
        }
        return null;
    }

    /** Returns whether the application has more than one pool of the same kind as the awaited pool. */
    public boolean isOneOfSeveral(Part wait) {
        PoolVerdict verdict = PoolVerdict.find(pools, wait);
        return verdict != null
                && pools.values().stream()
                                .filter(pool -> pool.pool().now().kind()
                                        == verdict.pool().now().kind())
                                .count()
                        > 1;
    }

    /**
     * Returns whether the name of the given threads begins with the name of another pool of the same kind. Returns
     * false if the name of the threads begins with no pool's name. HikariCP, for example, numbers unnamed pools and
     * names their threads after this number.
     */
    public boolean areOfAnotherPool(String threads, Part wait) {
        PoolVerdict verdict = PoolVerdict.find(pools, wait);
        return verdict != null
                && pools.values().stream()
                        .map(pool -> pool.pool().now())
                        .filter(pool -> pool.kind() == verdict.pool().now().kind())
                        .map(PoolSnapshot::name)
                        .filter(threads::startsWith)
                        .max(Comparator.comparingInt(String::length))
                        .filter(name -> !name.equals(verdict.pool().now().name()))
                        .isPresent();
    }

    /** Returns the kind of peer that the given pool's connections lead to; null if it is unknown. */
    @Nullable
    public Kind ofPool(Part wait) {
        PoolVerdict verdict = PoolVerdict.find(pools, wait);
        if (verdict != null) {
            return switch (verdict.pool().now().kind()) {
                case JDBC -> Kind.SQL;
                case REDIS -> Kind.REDIS;
                case HTTP -> Kind.HTTP;
                default -> null;
            };
        }
        for (Phase phase : new Phase[] {Phase.JDBC_CONNECTION, Phase.REDIS_CONNECTION, Phase.HTTP_CONNECTION}) {
            if (wait.equals(Account.part(phase, ""))) {
                return of(phase);
            }
        }
        return null;
    }

    /** Returns whether the given cause is a database or Redis server that does not answer. */
    public static boolean isSilentStore(Part part) {
        return part.kind() == Kind.PEER_FAILS
                && part.name().endsWith(": " + Part.SILENT)
                && STORES.stream().anyMatch(part.name()::startsWith);
    }
}
