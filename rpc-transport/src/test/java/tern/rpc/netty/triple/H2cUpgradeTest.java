package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.netty.peer.Await;
import tern.rpc.netty.peer.CapturedLog;
import tern.rpc.netty.peer.RawSocket;
import tern.rpc.netty.triple.Http1Wire.Answer;
import tern.rpc.server.RpcServer;

/** Tests connections that start with HTTP/1.1 and upgrade to HTTP/2. */
@Timeout(60)
class H2cUpgradeTest {

    private static final TripleSides SIDES = new TripleSides();
    private static final String ECHO = "/com.example.wire.GreetService/echo";
    private static RpcServer server;

    @BeforeAll
    static void start() {
        server = SIDES.serve(limits -> limits, settings -> {});
    }

    @AfterAll
    static void stop() throws Exception {
        SIDES.close();
    }

    private static byte[] captured() {
        try (InputStream file = H2cUpgradeTest.class.getResourceAsStream("/wire/triple-raw/h2c-upgrade.c2s.bin")) {
            return Objects.requireNonNull(file).readAllBytes();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void capturedUpgradeIsAnsweredOnTheFirstStream() {
        String all = new String(captured(), ISO_8859_1);
        int end = all.indexOf("PRI * HTTP/2.0");
        try (Http2Wire wire = Http2Wire.connect(server.port())) {
            wire.send(all.substring(0, end).getBytes(ISO_8859_1));
            wire.skip("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n");
            wire.send(all.substring(end).getBytes(ISO_8859_1));

            Http2Wire.Answer answer = wire.answer(1);

            assertThat(answer.head().status()).asString().isEqualTo("200");
            assertThat(answer.head().get("content-type")).asString().isEqualTo("application/json");
            assertThat(answer.text()).isEqualTo("\"up\"");
        }
    }

    @Test
    void bytesAfterTheUpgradeThatAreNoHttp2AreNamed() {
        String all = new String(captured(), ISO_8859_1);
        String upgrade = all.substring(0, all.indexOf("PRI * HTTP/2.0"));
        try (CapturedLog log = new CapturedLog("tern.rpc.netty.ServerCounters");
                Http2Wire wire = Http2Wire.connect(server.port())) {
            wire.send((upgrade + "GET / HTTP/1.1\r\nhost: x\r\n\r\n").getBytes(ISO_8859_1));

            Await.until("the reason is logged", () -> !log.lines().isEmpty());

            assertThat(log.lines()).allMatch(line -> line.contains("GET / ") && !line.contains("index:"));
        }
    }

    @Test
    void upgradeInOnePieceWithLaterFramesIsAnswered() {
        try (Http2Wire wire = Http2Wire.connect(server.port())) {
            wire.send(captured());
            wire.skip("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n");

            assertThat(wire.answer(1).text()).isEqualTo("\"up\"");
        }
    }

    @Test
    void javaClientContinuesWithHttp2() throws Exception {
        RpcServer own = SIDES.serve(limits -> limits, settings -> {});
        HttpClient client = HttpClient.newBuilder().version(Version.HTTP_2).build();
        for (int i = 0; i < 10; i++) {
            HttpResponse<String> answer = client.send(request(own, "\"x\""), BodyHandlers.ofString());

            assertThat(answer.version()).isEqualTo(Version.HTTP_2);
            assertThat(answer.body()).isEqualTo("\"x\"");
        }
        assertThat(own.connections()).isEqualTo(1);
    }

    private static HttpRequest request(String body) {
        return request(server, body);
    }

    private static HttpRequest request(RpcServer at, String body) {
        return HttpRequest.newBuilder(URI.create("http://localhost:" + at.port() + ECHO))
                .POST(BodyPublishers.ofString(body))
                .build();
    }

    @Test
    void largeBodyIsServedAsItComesInTheOldVersion() throws Exception {
        HttpClient client = HttpClient.newBuilder().version(Version.HTTP_2).build();
        String body = '"' + "x".repeat(70_000) + '"';

        HttpResponse<String> answer = client.send(request(body), BodyHandlers.ofString());

        assertThat(answer.version()).isEqualTo(Version.HTTP_1_1);
        assertThat(answer.body()).isEqualTo(body);
    }

    @Test
    void callsOfManyMegabytesLeaveTheWindowsAsTheyShouldBe() throws Exception {
        HttpClient client = HttpClient.newBuilder().version(Version.HTTP_2).build();
        client.send(request('"' + "x".repeat(60_000) + '"'), BodyHandlers.ofString());
        String body = '"' + "x".repeat(3_000_000) + '"';
        for (int i = 0; i < 3; i++) {
            assertThat(client.send(request(body), BodyHandlers.ofString()).body())
                    .hasSize(body.length());
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Connection: Upgrade\r\nUpgrade: h2c\r\n",
                "Connection: Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n",
                "Connection: HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n",
                "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h3c\r\nHTTP2-Settings: AAMAAABk\r\n",
                "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\nHTTP2-Settings:\r\n",
                "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAA\r\n",
                "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: ****\r\n",
                "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAX_____\r\n"
            })
    void upgradeThatIsNotAskedForInFullIsNone(String headers) {
        try (RawSocket socket = RawSocket.connect(server.port())) {
            String request =
                    "POST " + ECHO + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "Content-Length: 4\r\n\r\n\"up\"";
            for (int i = 0; i < 2; i++) {
                socket.send(request.getBytes(ISO_8859_1));

                Answer answer = Http1Wire.read(socket);
                assertThat(answer.status()).isEqualTo(200);
                assertThat(answer.text()).isEqualTo("\"up\"");
            }
        }
    }

    @Test
    void requestThatNamesNothingIsRefusedOnTheFirstStream() throws Exception {
        HttpClient client = HttpClient.newBuilder().version(Version.HTTP_2).build();
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://localhost:" + server.port() + "/nothing/here"))
                .POST(BodyPublishers.ofString("\"x\""))
                .build();

        HttpResponse<String> answer = client.send(request, BodyHandlers.ofString());

        assertThat(answer.version()).isEqualTo(Version.HTTP_2);
        assertThat(answer.statusCode()).isEqualTo(404);
    }

    @Test
    void drainingServerNotifiesUpgradedConnectionsToo() throws Exception {
        RpcServer draining = SIDES.serve(limits -> limits, settings -> {});
        String all = new String(captured(), ISO_8859_1);
        try (Http2Wire wire = Http2Wire.connect(draining.port())) {
            wire.send(all.getBytes(ISO_8859_1));
            wire.skip("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n");
            wire.answer(1);
            new Thread(() -> draining.drain(Duration.ofSeconds(10))).start();
            wire.readUntil(() -> !wire.pings().isEmpty());
            wire.frame(
                    Http2Wire.PING,
                    Http2Wire.ACK,
                    0,
                    ByteBuffer.allocate(Long.BYTES).putLong(wire.pings().get(0)).array());

            assertThat(wire.endOfConnection()).isEqualTo(0);
        }
        Await.until("its connection is gone", () -> draining.connections() == 0);
    }
}
