package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.WireName;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.serialization.LargeWork;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/**
 * Tests that the server counts decompressed bytes towards the memory for requests before it produces them, and limits
 * the work that few compressed bytes can cause.
 */
@Timeout(120)
class UnpackedRequestTest {

    private static final int BUDGET = 8 << 20;

    /** Slightly more than a quarter of the budget. A single connection may use at most a quarter of the budget. */
    private static final int TOO_MUCH = 3 << 20;

    @WireName("test.Texts")
    public interface Texts {
        int length(String text);
    }

    private final AtomicInteger served = new AtomicInteger();
    private final TripleSides sides = new TripleSides();
    private RpcServer server;

    @BeforeEach
    void start() {
        Texts texts = text -> {
            served.incrementAndGet();
            return text.length();
        };
        server = sides.serve(
                ServerTransportSettings.onPort(0).withMaxInboundBytes(BUDGET).withMaxMessageBytes(BUDGET),
                HttpSettings.defaults(),
                builder -> builder.export(ServiceExport.of(Texts.class, texts)));
    }

    /**
     * Closes client and server. Afterwards, the resource check of the test class detects counted bytes that have not
     * been released.
     */
    @AfterEach
    void close() throws Exception {
        sides.close();
    }

    /** Returns random digits, each 0 or 1. Gzip cannot reduce the digits to a hundredth of their size. */
    private static String digits(int count) {
        StringBuilder text = new StringBuilder(count);
        Random random = new Random(count);
        while (text.length() < count) {
            text.append(random.nextInt(2));
        }
        return text.toString();
    }

    private static byte[] json(int digits) {
        return Gzipped.of(("{\"text\":\"" + digits(digits) + "\"}").getBytes(UTF_8));
    }

    private static byte[] zeros(int count) {
        return Gzipped.of(("{\"text\":\"" + "0".repeat(count) + "\"}").getBytes(UTF_8));
    }

    private HttpRequest request(byte[] body) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + "/test.Texts/length"))
                .header("content-type", "application/json")
                .header("content-encoding", "gzip")
                .POST(BodyPublishers.ofByteArray(body))
                .build();
    }

    private HttpResponse<String> send(HttpClient.Version version, byte[] body) throws Exception {
        HttpClient client = HttpClient.newBuilder().version(version).build();
        return client.send(request(body), BodyHandlers.ofString());
    }

    @ParameterizedTest
    @EnumSource
    void largeRequestIsReadAndItsMemoryReleased(HttpClient.Version version) throws Exception {
        HttpResponse<String> answer = send(version, json(1 << 20));

        assertThat(answer.body()).isEqualTo(String.valueOf(1 << 20));
    }

    @ParameterizedTest
    @EnumSource
    void decompressionStopsIfTheMemoryOfTheConnectionIsUsedUp(HttpClient.Version version) throws Exception {
        HttpResponse<String> answer = send(version, json(TOO_MUCH));

        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(429);
        assertThat(answer.body())
                .contains("decompression stopped at 2162688 bytes")
                .contains("this connection has 2097152 of 2097152 bytes unpacked")
                .contains("rpc.limits.max-inbound-bytes");
        assertThat(served).hasValue(0);
    }

    @ParameterizedTest
    @EnumSource
    void requestThatBecomesAHundredTimesAsLargeIsRefusedAbove512Kib(HttpClient.Version version) throws Exception {
        HttpResponse<String> small = send(version, zeros(500_000));
        HttpResponse<String> large = send(version, zeros(1_000_000));

        assertThat(small.body()).isEqualTo("500000");
        assertThat(large.statusCode()).as(large.body()).isEqualTo(413);
        assertThat(large.body())
                .contains("becomes more than 100 times as large, and more than 512 KiB")
                .contains("rpc.limits.max-unpacked-ratio");
        assertThat(served).hasValue(1);
    }

    private static List<LargeWork> occupyAllThreadsThatUnpack() {
        List<LargeWork> held = new ArrayList<>();
        for (int i = 0; i < Math.max(1, Runtime.getRuntime().availableProcessors() - 1); i++) {
            held.add(LargeWork.startDecodingUnpacked(1 << 20, "another caller"));
        }
        return held;
    }

    /**
     * One request is large. The other request is small when compressed, and a hundred times larger after decompression.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void fewThreadsDecodeRequestsThatBecomeLargeOrMuchLarger(boolean large) throws Exception {
        List<LargeWork> held = occupyAllThreadsThatUnpack();
        byte[] body = large ? json(100_000) : zeros(63_000);
        CompletableFuture<HttpResponse<String>> answer =
                HttpClient.newHttpClient().sendAsync(request(body), BodyHandlers.ofString());
        while (!isAThreadWaiting() && !answer.isDone()) {
            Thread.onSpinWait();
        }

        assertThat(served).hasValue(0);
        held.forEach(LargeWork::end);
        assertThat(answer.get().body()).isEqualTo(large ? "100000" : "63000");
    }

    @Test
    void usualCompressedRequestNeedsNoTurn() throws Exception {
        List<LargeWork> held = occupyAllThreadsThatUnpack();

        assertThat(send(HttpClient.Version.HTTP_2, json(60_000)).body()).isEqualTo("60000");
        assertThat(send(HttpClient.Version.HTTP_2, zeros(8_000)).body()).isEqualTo("8000");

        held.forEach(LargeWork::end);
    }

    private static boolean isAThreadWaiting() {
        return Thread.getAllStackTraces().values().stream()
                .anyMatch(stack -> Arrays.stream(stack)
                        .anyMatch(frame -> frame.getClassName().equals(LargeWork.class.getName())));
    }

    @Test
    void framedMessageIsRefusedIfTheMemoryOfTheConnectionIsUsedUp() throws Exception {
        HttpRequest request = HttpRequest.newBuilder(
                        URI.create("http://127.0.0.1:" + server.port() + "/test.Texts/length"))
                .header("content-type", "application/grpc-web+json")
                .header("grpc-encoding", "gzip")
                .POST(BodyPublishers.ofByteArray(
                        TestFrame.of(1, Gzipped.of(digits(TOO_MUCH).getBytes(UTF_8)))))
                .build();

        HttpResponse<String> answer = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());

        assertThat(answer.headers().firstValue("grpc-status")).contains("8");
        assertThat(answer.headers().firstValue("grpc-message").orElse("")).contains("max-inbound-bytes");
        assertThat(served).hasValue(0);
    }

    @Test
    void brokenRequestGivesItsMemoryBack() throws Exception {
        byte[] broken = json(1 << 20);
        broken[broken.length - 6]++; // the changed byte belongs to the checksum, which is therefore wrong

        assertThat(send(HttpClient.Version.HTTP_2, broken).statusCode()).isEqualTo(400);
        assertThat(served).hasValue(0);
    }

    @Test
    void unreadableRequestGivesItsMemoryBack() throws Exception {
        byte[] list = Gzipped.of(("{\"text\":[" + digits(1 << 20) + "]}").getBytes(UTF_8));

        assertThat(send(HttpClient.Version.HTTP_1_1, list).statusCode()).isEqualTo(400);
        assertThat(served).hasValue(0);
    }

    @Test
    void manyAtOnceAreReadOrRefused() {
        byte[] body = json(1 << 20);
        List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            HttpClient client =
                    HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
            answers.add(client.sendAsync(request(body), BodyHandlers.ofString()));
        }

        for (CompletableFuture<HttpResponse<String>> answer : answers) {
            assertThat(answer.join().statusCode()).isIn(200, 429);
        }
        assertThat(served).hasPositiveValue();
    }
}
