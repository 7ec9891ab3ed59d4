package tern.rpc.spring.autoconfigure.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.commons.pool2.BasePooledObjectFactory;
import org.apache.commons.pool2.PooledObject;
import org.apache.commons.pool2.impl.DefaultPooledObject;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPool;

@Timeout(60)
class ReplacingPoolTest {

    private final BlockingQueue<Thread> connecting = new LinkedBlockingQueue<>();
    private volatile CountDownLatch network = new CountDownLatch(0);

    private final ConnectionPool pool = new ConnectionPool(new BasePooledObjectFactory<>() {
        @Override
        public Connection create() throws InterruptedException {
            connecting.add(Thread.currentThread());
            network.await();
            return new Connection();
        }

        @Override
        public PooledObject<Connection> wrap(Connection connection) {
            return new DefaultPooledObject<>(connection);
        }
    });

    private final ReplacingPool lent = new ReplacingPool(pool);

    @AfterEach
    void close() {
        network.countDown();
        pool.close();
        lent.close();
    }

    private Thread nextConnecting() throws InterruptedException {
        return connecting.poll(30, TimeUnit.SECONDS);
    }

    @Test
    void connectionComesBackToThePool() {
        try (Connection first = lent.getResource()) {
            assertThat(pool.getNumActive()).isOne();
            assertThat(first.isBroken()).isFalse();
        }

        assertThat(pool.getNumActive()).isZero();
        assertThat(pool.getNumIdle()).isOne();
        assertThat(connecting).containsExactly(Thread.currentThread());
    }

    @Test
    void brokenConnectionIsReplacedWithoutItsCaller() throws Exception {
        Connection broken = lent.getResource();
        connecting.clear();
        network = new CountDownLatch(1);

        broken.setBroken();
        broken.close(); // If this call opened a connection, the test would hang here.

        assertThat(nextConnecting()).isNotSameAs(Thread.currentThread());
        network.countDown();
        try (Connection next = lent.getResource()) {
            assertThat(next).isNotSameAs(broken);
        }
    }

    @Test
    void brokenConnectionThatComesBackAfterTheEndIsDestroyed() {
        Connection broken = lent.getResource();
        pool.close();
        lent.close();
        connecting.clear();

        broken.setBroken();
        broken.close();

        assertThat(pool.getNumActive()).isZero();
        assertThat(connecting).isEmpty();
    }
}
