package tern.rpc.netty.peer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.Extension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tern.rpc.NanoClock;
import tern.rpc.limit.FixedLimit;
import tern.rpc.limit.Limiter;
import tern.rpc.limit.Share;
import tern.rpc.transport.IdleServerTransport;

/**
 * Tests that the resource ledger's check fails for each kind of leaked resource. Without this test, a defect of the
 * check itself would not be noticed.
 */
class ResourceLedgerTest {

    /** A kind of resource that a transport can leak. */
    enum Leak {
        CONNECTION("1 connections"),
        CALL("1 calls in flight"),
        REQUEST("1 bytes of requests"),
        ANSWER("1 bytes of unsent answers"),
        QUEUE("1 bytes in write queues");

        final String told;

        Leak(String told) {
            this.told = told;
        }
    }

    private final Set<Leak> leaks = EnumSet.noneOf(Leak.class);
    private @Nullable WatchedTransport watched;

    @BeforeEach
    void watch() {
        watched = ResourceLedger.watched(new Leaking());
    }

    @AfterEach
    void forget() {
        ResourceLedger.forget(Objects.requireNonNull(watched));
    }

    private static List<String> left() {
        return ResourceLedger.left(ResourceLedger.threads());
    }

    @Test
    void testWithoutResourcesLeavesNothing() {
        assertThat(left()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void resourcesOfATransportAreFound(Leak leak) {
        leaks.add(leak);

        assertThat(left()).containsExactly(leak.told);
    }

    @Test
    void placeOfTheLimiterIsFound() {
        Share share = new Share("a tenant");
        new Limiter(new FixedLimit(1), 1, NanoClock.SYSTEM).enter(share, System.nanoTime());

        Objects.requireNonNull(watched).sawShare(share);

        assertThat(left()).containsExactly("1 places of the limiter for a tenant");
    }

    @Test
    void runningStreamIsFound() {
        Share share = new Share("a tenant");
        share.streamBegins();

        Objects.requireNonNull(watched).sawShare(share);

        assertThat(left()).containsExactly("1 runs of streams of a tenant");
    }

    @Test
    void ledgerIsRegisteredForEveryClass() {
        assertThat(ServiceLoader.load(Extension.class)).hasAtLeastOneElementOfType(ResourceLedger.class);
    }

    @Test
    void threadIsFound() throws Exception {
        Set<Thread> before = ResourceLedger.threads();
        CountDownLatch end = new CountDownLatch(1);
        Thread lost = new Thread(
                () -> {
                    try {
                        end.await();
                    } catch (InterruptedException e) {
                        // an interrupt ends this thread
                    }
                },
                "rpc-lost");
        lost.start();
        try {
            assertThat(ResourceLedger.left(before)).containsExactly("thread rpc-lost");
        } finally {
            end.countDown();
            lost.join();
        }
    }

    private final class Leaking extends IdleServerTransport {

        private int count(Leak leak) {
            return leaks.contains(leak) ? 1 : 0;
        }

        @Override
        public int connections() {
            return count(Leak.CONNECTION);
        }

        @Override
        public int inFlight() {
            return count(Leak.CALL);
        }

        @Override
        public long queuedBytes() {
            return count(Leak.QUEUE);
        }

        @Override
        public long inboundBytes() {
            return count(Leak.REQUEST);
        }

        @Override
        public long unsentBytes() {
            return count(Leak.ANSWER);
        }
    }
}
