package tern.rpc.load.replay;

import com.alibaba.druid.mock.MockDriver;
import com.alibaba.druid.pool.DruidDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.ConcurrentHistogram;

/**
 * Measures the cost of fair and unfair locks in Druid's connection pool. Many threads each borrow a connection and
 * return it immediately. No database is used. With an unfair lock, more connections are borrowed per second than with a
 * fair lock, but some threads wait for a long time.
 */
final class LockPrice {

    private static final int THREADS = 400;
    private static final int CONNECTIONS = 50;
    private static final long SECONDS = 2;
    private static final long MAX_MICROS = TimeUnit.SECONDS.toMicros(60);

    private final ConcurrentHistogram waitMicros = new ConcurrentHistogram(MAX_MICROS, 3);
    private final DruidDataSource pool;

    private LockPrice(DruidDataSource pool) {
        this.pool = pool;
    }

    /** Returns a text such as {@code 47000 connections borrowed per second, p50 7.9 ms, longest wait 30 ms}. */
    static String of(boolean unfair) throws InterruptedException {
        try (DruidDataSource pool = new DruidDataSource()) {
            pool.setDriver(new MockDriver());
            pool.setUrl("jdbc:mock:lock-price");
            pool.setUseUnfairLock(unfair);
            pool.setMaxActive(CONNECTIONS);
            pool.setInitialSize(CONNECTIONS);
            pool.setMinIdle(CONNECTIONS);
            pool.setTestWhileIdle(false);
            return new LockPrice(pool).measure();
        }
    }

    private String measure() throws InterruptedException {
        CountDownLatch done = new CountDownLatch(THREADS);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        for (int i = 0; i < THREADS; i++) {
            Thread thread = new Thread(() -> borrowUntil(end, done), "borrower-" + i);
            thread.setDaemon(true);
            thread.start();
        }
        done.await();
        return String.format(
                Locale.ROOT,
                "%d connections borrowed per second, p50 %.2f ms, p99 %.1f ms, longest wait %.0f ms",
                waitMicros.getTotalCount() / SECONDS,
                waitMicros.getValueAtPercentile(50) / 1e3,
                waitMicros.getValueAtPercentile(99) / 1e3,
                waitMicros.getMaxValue() / 1e3);
    }

    private void borrowUntil(long end, CountDownLatch done) {
        try {
            for (long now = System.nanoTime(); now < end; now = System.nanoTime()) {
                borrow(now);
            }
        } catch (SQLException e) {
            throw new IllegalStateException("a connection that is not one cannot fail", e);
        } finally {
            done.countDown();
        }
    }

    private void borrow(long asked) throws SQLException {
        try (Connection connection = pool.getConnection()) {
            connection.getAutoCommit();
            waitMicros.recordValue(Math.min(MAX_MICROS, TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - asked)));
        }
    }
}
