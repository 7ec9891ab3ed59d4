package tern.rpc.spring.autoconfigure.pool;

import java.time.Duration;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPool;
import redis.clients.jedis.util.Pool;

/**
 * Lends a pool's connections, and replaces broken connections on a separate thread. The original pool would reconnect
 * on the caller's thread after a failed command. Without a network, the caller would then wait for the read timeout
 * twice. A broken connection counts as borrowed until it is replaced, so other callers can reach the pool's limit and
 * fail in the meantime. Thread-safe.
 */
final class ReplacingPool extends ConnectionPool {

    private static final Logger LOG = LoggerFactory.getLogger(ReplacingPool.class);
    private static final long IDLE_SECONDS = 5;

    private final Pool<Connection> pool;
    private final ThreadPoolExecutor replacing;

    ReplacingPool(Pool<Connection> pool) {
        super(pool.getFactory(), unused());
        this.pool = pool;
        this.replacing =
                new ThreadPoolExecutor(1, 1, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread thread = new Thread(task, "rpc-redis-replacing");
                    thread.setDaemon(true);
                    return thread;
                });
        replacing.allowCoreThreadTimeOut(true);
    }

    /** Returns the configuration for the superclass's own pool, which never contains a connection. */
    private static GenericObjectPoolConfig<Connection> unused() {
        GenericObjectPoolConfig<Connection> config = new GenericObjectPoolConfig<>();
        config.setJmxEnabled(false);
        config.setMaxTotal(0);
        return config;
    }

    /**
     * Borrows a connection from the original pool, which limits the wait. {@link #getResource()} calls this method.
     */
    @Override
    public Connection borrowObject(Duration unused) throws Exception {
        return pool.borrowObject();
    }

    @Override
    public void returnResource(Connection connection) {
        pool.returnResource(connection);
    }

    @Override
    public void returnBrokenResource(Connection connection) {
        try {
            replacing.execute(() -> replace(connection));
        } catch (RejectedExecutionException closed) {
            pool.returnBrokenResource(connection); // The pool discards the broken connection without reconnecting.
        }
    }

    private void replace(Connection broken) {
        try {
            pool.returnBrokenResource(broken);
        } catch (RuntimeException e) {
            LOG.debug("A broken connection to Redis was not replaced; the next command connects", e);
        }
    }

    /** Ends the thread that replaces connections. The owner of the original pool must close that pool. */
    @Override
    public void close() {
        replacing.shutdown();
        super.close();
    }
}
