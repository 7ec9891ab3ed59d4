package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.netty.peer.Await;
import tern.rpc.serialization.LargeResults;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/** Tests that the results of calls are limited while they are created and encoded. */
@Timeout(60)
class LargeResultsTest {

    private static final int LARGE = 1 << 20;

    /** A service whose results have the requested length. */
    public interface Texts {
        String text(int length);

        CompletionStage<String> later(int length);

        String other(int length);
    }

    private final class Server implements Texts {

        @Override
        public String text(int length) {
            calls.incrementAndGet();
            awaitPermission();
            leastFree.accumulateAndGet(LargeResults.freeKib(), Math::min);
            return "x".repeat(length);
        }

        @Override
        public CompletionStage<String> later(int length) {
            leastFree.accumulateAndGet(LargeResults.freeKib(), Math::min);
            return CompletableFuture.supplyAsync(() -> "x".repeat(length));
        }

        @Override
        public String other(int length) {
            return "x".repeat(length);
        }
    }

    private void awaitPermission() {
        try {
            hold.get().await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private final AtomicReference<CountDownLatch> hold = new AtomicReference<>(new CountDownLatch(0));
    private final int free = LargeResults.freeKib();
    private final AtomicInteger calls = new AtomicInteger();
    private final AtomicInteger leastFree = new AtomicInteger(free);
    private final TripleSides sides = new TripleSides();
    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final RpcServer server = sides.serve(
            limits -> limits, settings -> settings.workers(4, 8).export(ServiceExport.of(Texts.class, new Server())));

    @AfterEach
    void close() throws Exception {
        sides.close();
        Await.until("no memory is held", () -> LargeResults.freeKib() == free);
    }

    private CompletableFuture<HttpResponse<String>> call(String method, int length) {
        HttpRequest request = HttpRequest.newBuilder(
                        URI.create("http://localhost:" + server.port() + "/" + Texts.class.getName() + "/" + method))
                .header("content-type", "application/json")
                .POST(BodyPublishers.ofString(String.valueOf(length)))
                .build();
        return client.sendAsync(request, BodyHandlers.ofString());
    }

    private void assertAnswered(String method, int length) {
        assertThat(call(method, length).join().body()).hasSize(length + 2);
    }

    @Test
    void callsAfterALargeResultReserveItsMemory() {
        assertAnswered("text", LARGE);
        assertThat(leastFree.get()).isEqualTo(free);

        assertAnswered("text", 1);

        // The method allocated the text, and Tern encoded it.
        assertThat(leastFree.get()).isBetween(free - 24 * (LARGE >> 10), free - 2 * (LARGE >> 10));
    }

    @Test
    void callsAfterALargeAsynchronousResultReserveItsMemory() {
        assertAnswered("later", LARGE);

        assertAnswered("later", 1);

        assertThat(leastFree.get()).isLessThan(free);
    }

    @Test
    void resultsOfCallersThatLeaveAreMeasured() throws Exception {
        hold.set(new CountDownLatch(1));
        CompletableFuture<HttpResponse<String>> leaving = call("text", LARGE);
        Await.until("the method runs", () -> calls.get() == 1);
        leaving.cancel(true);
        Await.until("the server knows that the caller has left", () -> server.connections() == 0);
        hold.get().countDown();
        Await.until("the method has returned", () -> server.workers().active() == 0);

        assertAnswered("text", 1);

        assertThat(leastFree.get()).isLessThan(free - 2 * (LARGE >> 10));
    }

    @Test
    void callsWithSmallResultsReserveNothing() {
        for (int i = 0; i < 10; i++) {
            assertAnswered("text", 1_000);
        }

        assertThat(leastFree.get()).isEqualTo(free);
    }

    @Test
    void callWaitsUntilItsResultFitsWhileOtherMethodsAreServed() {
        assertAnswered("text", LARGE);
        int all = LargeResults.start(Long.MAX_VALUE, "another caller", Long.MAX_VALUE, "another method");
        CompletableFuture<HttpResponse<String>> waiting;
        try {
            waiting = call("text", LARGE);
            Await.until("the call waits", () -> LargeResults.waiting() == 1);

            for (int i = 0; i < 10; i++) {
                assertAnswered("other", 1_000);
            }
            assertThat(calls.get()).isEqualTo(1);
        } finally {
            LargeResults.end(all);
        }

        assertThat(waiting.join().body()).hasSize(LARGE + 2);
    }
}
