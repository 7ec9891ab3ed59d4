package tern.rpc.spring.autoconfigure.pool;

import org.apache.commons.pool2.PooledObject;
import org.apache.commons.pool2.PooledObjectFactory;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.providers.PooledConnectionProvider;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/**
 * Provides and measures a Jedis client's connections. The client borrows a connection for each command. Thread-safe.
 */
final class WatchedConnections extends PooledConnectionProvider {

    private static final String POOL = "jedis";

    private final Borrowings borrowings;
    private final LentConnections lent;

    private WatchedConnections(
            PooledObjectFactory<Connection> factory,
            GenericObjectPoolConfig<Connection> config,
            Borrowings borrowings) {
        super(new Returns(factory, borrowings), config);
        this.borrowings = borrowings;
        this.lent = new LentConnections(getPool());
    }

    static WatchedConnections of(PooledObjectFactory<Connection> factory, GenericObjectPoolConfig<Connection> config) {
        return new WatchedConnections(factory, config, new Borrowings());
    }

    @Override
    public Connection getConnection(CommandArguments command) {
        return getConnection();
    }

    @Override
    public Connection getConnection() {
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
                borrowings.taken(askedAt);
            }
            ledger.leave(outer, POOL);
        }
    }

    @Override
    public void close() {
        super.close();
        lent.close();
    }

    PoolSnapshot.Builder snapshot(String name) {
        int max = getPool().getMaxTotal() < 0 ? Integer.MAX_VALUE : getPool().getMaxTotal();
        return borrowings
                .into(PoolSnapshot.builder(name, PoolKind.REDIS, max))
                .fair(getPool().getFairness())
                .now(getPool().getNumActive(), getPool().getNumIdle(), borrowings.waiting())
                .waitLimit(
                        getPool().getMaxWaitDuration().isNegative()
                                ? PoolSnapshot.UNKNOWN
                                : getPool().getMaxWaitDuration());
    }

    /** Measures when connections are returned. The pool reports each return, with the time of use, to its factory. */
    private record Returns(PooledObjectFactory<Connection> factory, Borrowings borrowings)
            implements PooledObjectFactory<Connection> {

        @Override
        public void passivateObject(PooledObject<Connection> connection) throws Exception {
            borrowings.returnedAfter(connection.getActiveDuration());
            factory.passivateObject(connection);
        }

        @Override
        public void activateObject(PooledObject<Connection> connection) throws Exception {
            factory.activateObject(connection);
        }

        @Override
        public void destroyObject(PooledObject<Connection> connection) throws Exception {
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
