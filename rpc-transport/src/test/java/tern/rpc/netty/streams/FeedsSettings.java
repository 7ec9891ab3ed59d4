package tern.rpc.netty.streams;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.time.Duration;
import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;
import tern.rpc.transport.TestAuthority;
import tern.rpc.transport.Tls;

/**
 * The conditions under which streams run.
 *
 * @param workers the number of threads that run methods, which is also the number of threads that run stream callbacks
 * @param loops the number of event loops, which server and clients share
 * @param maxStreams the number of concurrent streams that the server permits on one connection
 * @param tls whether all connections use TLS
 * @param streamWait the maximum time for which a worker blocks in {@code onNext}
 * @param threads creates the server's workers and the client's callback threads; null for platform threads
 */
record FeedsSettings(
        int workers,
        int loops,
        int maxStreams,
        boolean tls,
        Duration streamWait,
        @Nullable ThreadFactory threads) {

    private static final TestAuthority AUTHORITY = new TestAuthority("streams");

    private static final Tls SERVER_TLS = Tls.named("server")
            .withKeys(AUTHORITY.issue("server", "127.0.0.1", "localhost").keys())
            .withTrust(AUTHORITY.trust());

    private static final Tls CLIENT_TLS = Tls.named("client").withTrust(AUTHORITY.trust());

    /** Settings with many workers, so that each service that blocks in {@code onNext} has its own worker. */
    static FeedsSettings usual() {
        return new FeedsSettings(400, 2, FeedsSides.MAX_STREAMS, false, Duration.ofSeconds(1), null);
    }

    FeedsSettings withWorkers(int number) {
        return new FeedsSettings(number, loops, maxStreams, tls, streamWait, threads);
    }

    FeedsSettings withLoops(int number) {
        return new FeedsSettings(workers, number, maxStreams, tls, streamWait, threads);
    }

    FeedsSettings withMaxStreams(int number) {
        return new FeedsSettings(workers, loops, number, tls, streamWait, threads);
    }

    FeedsSettings withTls() {
        return new FeedsSettings(workers, loops, maxStreams, true, streamWait, threads);
    }

    FeedsSettings withStreamWait(Duration longest) {
        return new FeedsSettings(workers, loops, maxStreams, tls, longest, threads);
    }

    /** Skips the test on a Java version without virtual threads. */
    FeedsSettings withVirtualThreads() {
        return new FeedsSettings(workers, loops, maxStreams, tls, streamWait, virtualThreads());
    }

    private static ThreadFactory virtualThreads() {
        assumeTrue(Runtime.version().feature() >= 21, "this Java has no virtual threads");
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            return (ThreadFactory) Class.forName("java.lang.Thread$Builder")
                    .getMethod("factory")
                    .invoke(builder);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    static TestAuthority authority() {
        return AUTHORITY;
    }

    static Tls serverTls() {
        return SERVER_TLS;
    }

    static Tls clientTls() {
        return CLIENT_TLS;
    }
}
