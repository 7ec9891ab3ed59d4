package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tern.rpc.ServiceDescriptor;
import tern.rpc.WireName;
import tern.rpc.limit.FixedLimit;
import tern.rpc.netty.peer.Await;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/** Tests a method's concurrency limit with protocols that send the method's name before the request message. */
class MethodLimitHttpTest {

    @WireName("test.Holding")
    public interface Holding {
        String hold(String name);
    }

    private static final String UNREADABLE = "{{{";

    private final CountDownLatch held = new CountDownLatch(1);
    private final CountDownLatch release = new CountDownLatch(1);

    private String hold(String name) {
        held.countDown();
        try {
            assertThat(release.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return name;
    }

    private RpcServer serve(TripleSides sides) {
        return sides.serve(
                limits -> limits,
                settings -> settings.export(ServiceExport.of(Holding.class, (Holding) this::hold))
                        .limit(ServiceDescriptor.of(Holding.class).name(), "hold", () -> new FixedLimit(1)));
    }

    private static CompletableFuture<HttpResponse<String>> call(
            HttpClient client, HttpClient.Version version, RpcServer server, String body) {
        return client.sendAsync(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + "/test.Holding/hold"))
                        .version(version)
                        .header("content-type", "application/json")
                        .POST(BodyPublishers.ofString(body))
                        .build(),
                BodyHandlers.ofString());
    }

    @ParameterizedTest
    @EnumSource(HttpClient.Version.class)
    void callBeyondTheLimitIsRefusedBeforeItsBodyIsRead(HttpClient.Version version) throws Exception {
        try (TripleSides sides = new TripleSides()) {
            RpcServer server = serve(sides);
            HttpClient client = HttpClient.newHttpClient();
            CompletableFuture<HttpResponse<String>> running = call(client, version, server, "\"one\"");
            assertThat(held.await(30, TimeUnit.SECONDS)).isTrue();

            HttpResponse<String> refused =
                    call(client, version, server, UNREADABLE).get(30, TimeUnit.SECONDS);

            assertThat(refused.statusCode()).isEqualTo(429);
            assertThat(refused.body()).contains("1 of 1 are running");
            release.countDown();
            assertThat(running.get(30, TimeUnit.SECONDS).body()).isEqualTo("\"one\"");
        }
    }

    @Test
    void requestThatCannotBeReadGivesItsPlaceBack() throws Exception {
        release.countDown();
        try (TripleSides sides = new TripleSides()) {
            RpcServer server = serve(sides);
            HttpClient client = HttpClient.newHttpClient();
            HttpClient.Version version = HttpClient.Version.HTTP_1_1;

            HttpResponse<String> bad = call(client, version, server, UNREADABLE).get(30, TimeUnit.SECONDS);

            assertThat(bad.statusCode()).isEqualTo(400);
            Await.until( // the worker might return the permit a moment after it has sent the answer
                    "the permit is released",
                    () -> call(client, version, server, "\"one\"").join().statusCode() == 200);
        }
    }
}
