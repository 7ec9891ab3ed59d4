package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tern.rpc.netty.peer.Await;

class TlsHandshakesTest {

    private final TlsHandshakes handshakes = new TlsHandshakes();
    private final CountDownLatch end = new CountDownLatch(1);
    private final InetAddress flooding = address(1);

    @AfterEach
    void close() {
        end.countDown();
        handshakes.close();
    }

    private static InetAddress address(int last) {
        return address(0, last);
    }

    private static InetAddress address(int third, int last) {
        try {
            return InetAddress.getByAddress(new byte[] {127, 0, (byte) third, (byte) last});
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e);
        }
    }

    private void await() {
        try {
            end.await(30, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Blocks until each thread runs a task, so that the following tasks wait. */
    private void occupyThreads() throws InterruptedException {
        CountDownLatch running = new CountDownLatch(TlsHandshakes.THREADS);
        for (int i = 0; i < TlsHandshakes.THREADS; i++) {
            handshakes.of(address(3)).execute(() -> {
                running.countDown();
                await();
            });
        }
        assertThat(running.await(30, TimeUnit.SECONDS)).isTrue();
    }

    private void flood() {
        flood(flooding, TlsHandshakes.MAX_OF_NETWORK);
    }

    private void flood(InetAddress network, int times) {
        for (int i = 0; i < times; i++) {
            handshakes.of(network).execute(this::await);
        }
    }

    @Test
    void handshakesDoNotRunOnTheThreadOfTheCaller() throws Exception {
        CompletableFuture<String> name = new CompletableFuture<>();
        handshakes
                .of(flooding)
                .execute(() -> name.complete(Thread.currentThread().getName()));

        assertThat(name.get(30, TimeUnit.SECONDS)).startsWith("rpc-tls");
    }

    @Test
    void addressWithManyUnfinishedHandshakesIsRefusedAndOthersAreNot() throws Exception {
        flood();

        assertThatThrownBy(() -> handshakes.of(flooding).execute(() -> {}))
                .isInstanceOf(RejectedExecutionException.class)
                .hasMessage("more than 256 handshakes from 127.0.0.1 are unfinished");
        CompletableFuture<Boolean> other = new CompletableFuture<>();
        handshakes.of(address(2)).execute(() -> other.complete(true));
        end.countDown();
        assertThat(other.get(30, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void addressIsAcceptedAgainWhenItsHandshakesHaveEnded() throws Exception {
        flood();
        end.countDown();

        CompletableFuture<Boolean> again = new CompletableFuture<>();
        Await.until("a handshake is accepted", () -> {
            try {
                handshakes.of(flooding).execute(() -> again.complete(true));
                return true;
            } catch (RejectedExecutionException tooMany) {
                return false;
            }
        });
        assertThat(again.get(30, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void addressesAreServedInTurn() throws Exception {
        BlockingQueue<String> order = new LinkedBlockingQueue<>();
        occupyThreads();
        CountDownLatch rest = new CountDownLatch(5);
        for (int i = 0; i < 4; i++) {
            handshakes.of(flooding).execute(() -> {
                order.add("flood");
                rest.countDown();
            });
        }
        handshakes.of(address(2)).execute(() -> {
            order.add("other");
            rest.countDown();
        });

        end.countDown();

        assertThat(rest.await(30, TimeUnit.SECONDS)).isTrue();
        // several threads might run the first computations at the same time
        assertThat(List.copyOf(order).subList(0, TlsHandshakes.THREADS + 1)).contains("other");
    }

    @Test
    void addressThatFindsNoPlaceGetsOneFromTheAddressWithTheMost() throws Exception {
        occupyThreads();
        for (int host = 10; host < 14; host++) {
            flood(address(host), TlsHandshakes.MAX_WAITING / 4);
        }
        CompletableFuture<Boolean> other = new CompletableFuture<>();

        handshakes.of(address(2)).execute(() -> other.complete(true));

        end.countDown();
        assertThat(other.get(30, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void handshakeFailsIfNoAddressHasMorePlaces() throws Exception {
        occupyThreads();
        for (int i = 0; i < TlsHandshakes.MAX_WAITING; i++) {
            flood(address(1 + (i >> 8), i), 1);
        }

        assertThatThrownBy(() -> flood(address(9, 1), 1))
                .isInstanceOf(RejectedExecutionException.class)
                .hasMessage("more than 1024 handshakes wait");
    }
}
