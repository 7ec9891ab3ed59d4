package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

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
        try {
            return InetAddress.getByAddress(new byte[] {127, 0, 0, (byte) last});
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

    private void flood() {
        for (int i = 0; i < TlsHandshakes.MAX_OF_NETWORK; i++) {
            handshakes.of(flooding).execute(this::await);
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
        CompletableFuture<Boolean> last = new CompletableFuture<>();
        handshakes.of(address(2)).execute(() -> last.complete(true));
        last.get(30, TimeUnit.SECONDS); // The task of the second address runs after all tasks of the flooding address.

        CompletableFuture<Boolean> again = new CompletableFuture<>();
        handshakes.of(flooding).execute(() -> again.complete(true));
        assertThat(again.get(30, TimeUnit.SECONDS)).isTrue();
    }
}
