package tern.rpc.spring.autoconfigure.pool;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.commons.pool2.PooledObject;
import org.apache.commons.pool2.PooledObjectFactory;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.providers.PooledConnectionProvider;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.pool.Holders;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/**
 * Provides and measures the connections of a Jedis client, which borrows one connection for each command. Thread-safe.
 */
final class WatchedConnections extends PooledConnectionProvider {

    private final String pool;
    private final Borrowings borrowings;
    private final ReplacingPool lent;

    // Connections borrowed by threads that serve no call, with their holders. Borrowing by calls is recorded in the
    // ledgers of the calls.
    private final Map<Connection, Holders.Holder> outside;

    private WatchedConnections(
            String pool,
            PooledObjectFactory<Connection> factory,
            GenericObjectPoolConfig<Connection> config,
            Borrowings borrowings,
            Map<Connection, Holders.Holder> outside) {
        super(new Returns(factory, borrowings, outside), config);
        this.pool = pool;
        this.borrowings = borrowings;
        this.outside = outside;
        this.lent = new ReplacingPool(getPool());
        borrowings.holders().size(max());
    }

    /** @param pool the name of the pool; ledgers record waits for a connection under this name */
    static WatchedConnections of(
            String pool, PooledObjectFactory<Connection> factory, GenericObjectPoolConfig<Connection> config) {
        return new WatchedConnections(pool, factory, config, new Borrowings(), new ConcurrentHashMap<>());
    }

    @Override
    public Connection getConnection(CommandArguments command) {
        return borrow(command);
    }

    @Override
    public Connection getConnection() {
        return borrow(null);
    }

    /** @param command the command that needs the connection; null if unknown */
    private Connection borrow(@Nullable CommandArguments command) {
        CallLedger ledger = CallLedger.current();
        Phase outer = ledger.enter(Phase.REDIS_CONNECTION);
        long askedAt = borrowings.asked();
        Connection connection = null;
        try {
            connection = lent.getResource();
            return connection;
        } finally {
            if (connection == null) {
                borrowings.refused(askedAt);
            } else {
                long takenAt = borrowings.taken(askedAt);
                if (!ledger.isOpen()) {
                    remember(connection, command, takenAt);
                }
            }
            ledger.leave(outer, pool);
        }
    }

    private void remember(Connection connection, @Nullable CommandArguments command, long takenAt) {
        Holders.Holder holder = borrowings.holders().taken(takenAt);
        if (command != null) {
            holder.begins(WatchedJedis.nameOf(command));
        }
        outside.put(connection, holder);
    }

    /** Returns the threads that use connections outside of calls. */
    Holders holders() {
        return borrowings.holders();
    }

    @Override
    public void close() {
        super.close();
        lent.close();
    }

    PoolSnapshot.Builder snapshot(String name) {
        return borrowings
                .into(PoolSnapshot.builder(name, PoolKind.REDIS, max()))
                .fair(getPool().getFairness())
                .now(getPool().getNumActive(), getPool().getNumIdle(), borrowings.waiting())
                .waitLimit(
                        getPool().getMaxWaitDuration().isNegative()
                                ? PoolSnapshot.UNKNOWN
                                : getPool().getMaxWaitDuration());
    }

    private int max() {
        return getPool().getMaxTotal() < 0 ? Integer.MAX_VALUE : getPool().getMaxTotal();
    }

    /**
     * Records the return of each connection. The pool reports every return, with the duration of use, to its factory.
     */
    private record Returns(
            PooledObjectFactory<Connection> factory, Borrowings borrowings, Map<Connection, Holders.Holder> outside)
            implements PooledObjectFactory<Connection> {

        @Override
        public void passivateObject(PooledObject<Connection> connection) throws Exception {
            borrowings.returnedAfter(connection.getActiveDuration());
            forget(connection);
            factory.passivateObject(connection);
        }

        private void forget(PooledObject<Connection> connection) {
            Holders.Holder holder = outside.remove(connection.getObject());
            if (holder != null) {
                borrowings.holders().returned(holder);
            }
        }

        @Override
        public void activateObject(PooledObject<Connection> connection) throws Exception {
            factory.activateObject(connection);
        }

        @Override
        public void destroyObject(PooledObject<Connection> connection) throws Exception {
            forget(connection);
            factory.destroyObject(connection);
        }

        @Override
        public @Nullable PooledObject<Connection> makeObject() throws Exception {
            return factory.makeObject();
        }

        @Override
        public boolean validateObject(PooledObject<Connection> connection) {
            return factory.validateObject(connection);
        }
    }
}
