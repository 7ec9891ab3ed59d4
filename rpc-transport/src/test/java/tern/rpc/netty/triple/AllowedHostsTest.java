package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.peer.RawSocket;
import tern.rpc.netty.triple.WebClient.Version;
import tern.rpc.server.ServiceExport;

/**
 * Tests two defences. The first prevents DNS rebinding, in which the host name of a web page resolves to the server.
 * The second prevents browsers from interpreting an answer as a page or script.
 */
@Timeout(60)
class AllowedHostsTest {

    private static final String WORDS = WebSides.WORDS;
    private static final SocketAddress ELSEWHERE = new InetSocketAddress("192.0.2.1", 20880);

    private final TripleSides sides = new TripleSides();

    @AfterEach
    void close() throws Exception {
        sides.close();
    }

    private int serve(String... hosts) {
        Cors cors = new Cors(Set.of("https://shop.example"), Set.of(), false, Duration.ofMinutes(1));
        return sides.serve(
                        ServerTransportSettings.onPort(0),
                        new HttpSettings(cors, false, false, Set.of(hosts)),
                        server -> server.export(ServiceExport.of(Words.class, new WordsServer())))
                .port();
    }

    private static boolean allow(AllowedHosts hosts, String authority) {
        return hosts.allow(new DefaultHttp2Headers(false).authority(authority), ELSEWHERE);
    }

    private static boolean allow(AllowedHosts hosts, String authority, String local) throws Exception {
        return hosts.allow(
                new DefaultHttp2Headers(false).authority(authority),
                new InetSocketAddress(InetAddress.getByName(local), 20880));
    }

    @ParameterizedTest
    @CsvSource({
        "10.1.2.3:20880, 10.1.2.3",
        "10.1.2.3, 10.1.2.3",
        "[::1]:20880, ::1",
        "[0:0:0:0:0:0:0:1], ::1",
        "127.0.0.1:20880, 127.0.0.1",
    })
    void addressAtWhichTheConnectionArrivedIsAllowed(String authority, String local) throws Exception {
        AllowedHosts hosts = new AllowedHosts(Set.of("orders.internal"));

        assertThat(allow(hosts, authority, local)).isTrue();
        assertThat(allow(hosts, authority, "10.9.9.9")).isFalse();
        assertThat(hosts.allow(
                        new DefaultHttp2Headers().authority("evil.example").set("host", "10.1.2.3"),
                        new InetSocketAddress(InetAddress.getByName("10.1.2.3"), 1)))
                .isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"127.1", "0x7f.0.0.1", "2130706433", "0177.0.0.1", "localhost", "127.0.0.1.evil.example", "[]"})
    void otherSpellingsOfThatAddressAreNotAllowed(String authority) throws Exception {
        assertThat(allow(new AllowedHosts(Set.of("orders.internal")), authority, "127.0.0.1"))
                .isFalse();
    }

    @Test
    void refusalContainsTheHost() {
        int port = serve("orders.internal");
        try (RawSocket socket = RawSocket.connect(port)) {
            String request = "GET " + WORDS + "shoutJava?text=hi HTTP/1.1\r\nhost: evil.example\r\n\r\n";

            assertThat(Http1Wire.read(socket.send(request.getBytes(ISO_8859_1))).text())
                    .contains("the host evil.example in the request", "rpc.server.allowed-hosts")
                    .doesNotContain("orders.internal");
        }
        assertThat(status(port, "GET " + WORDS + "shoutJava?text=hi HTTP/1.1\r\nhost: 127.0.0.1:80\r\n\r\n"))
                .isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "orders.internal",
                "ORDERS.internal:20880",
                "orders.internal.",
                "a.shop.example",
                "a.b.shop.example:1",
                "10.0.0.7:80",
                "[::1]:20880",
                "[::1]"
            })
    void namesOfTheServerAreAllowed(String authority) {
        AllowedHosts hosts = new AllowedHosts(Set.of("Orders.internal", "*.shop.example", "10.0.0.7", "[::1]"));

        assertThat(allow(hosts, authority)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "evil.example",
                "orders.internal.evil.example",
                "xorders.internal",
                "shop.example",
                "shop.example.evil",
                "orders.internal@evil.example",
                "evil.example@orders.internal",
                "orders.internal:x",
                "orders.internal, evil.example",
                "*.shop.example",
                "10.0.0.77",
                "::1",
                "[::2]"
            })
    void otherNamesAreNotAllowed(String authority) {
        AllowedHosts hosts = new AllowedHosts(Set.of("orders.internal", "*.shop.example", "10.0.0.7", "[::1]"));

        assertThat(allow(hosts, authority)).isFalse();
        assertThat(allow(new AllowedHosts(Set.of()), authority)).isTrue();
    }

    @Test
    void nameMayBeAsLongAsTheDnsAllows() {
        AllowedHosts hosts = new AllowedHosts(Set.of("*.shop.example"));
        String longest = "a".repeat(AllowedHosts.MAX_NAME - ".shop.example".length()) + ".shop.example";

        assertThat(allow(hosts, longest)).isTrue();
        assertThat(allow(hosts, longest + ".:65535")).isTrue();
        assertThat(allow(hosts, "a" + longest)).isFalse();
        assertThatThrownBy(() -> new AllowedHosts(Set.of("a" + longest))).isInstanceOf(IllegalArgumentException.class);
    }

    /**
     * Tests that the check does not copy the rest of the name for each dot. With 15,000 dots, the copies would take 450
     * MB.
     */
    @Test
    void longNameCostsLittle() {
        AllowedHosts hosts = new AllowedHosts(Set.of("orders.internal", "*.shop.example"));
        String dots = "a.".repeat(15_000) + "shop.example";
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        allow(hosts, dots);

        long before = threads.getCurrentThreadAllocatedBytes();
        boolean allowed = allow(hosts, dots);
        long bytes = threads.getCurrentThreadAllocatedBytes() - before;

        assertThat(allowed).isFalse();
        assertThat(bytes).isLessThan(16L * dots.length());
    }

    @Test
    void everyNameOfARequestCounts() {
        AllowedHosts hosts = new AllowedHosts(Set.of("orders.internal"));
        Http2Headers both =
                new DefaultHttp2Headers().authority("orders.internal").set("host", "evil.example");

        assertThat(hosts.allow(both, ELSEWHERE)).isFalse();
        assertThat(hosts.allow(new DefaultHttp2Headers(), ELSEWHERE)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"http://a", "a:80", "a/b", "", "*", "a b"})
    void invalidHostIsRefused(String name) {
        assertThatThrownBy(() -> new AllowedHosts(Set.of(name)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("is not a host");
    }

    @Test
    void hostThatIsNotAllowedIsRefusedForEveryKindOfRequest() {
        int port = serve("orders.internal");

        for (Version version : Version.values()) {
            for (WebRequest request : new WebRequest[] {
                WebRequest.of("GET", WORDS + "shoutJava?text=hi"),
                WebRequest.post(WORDS + "shoutJava", "application/json").body("\"hi\"".getBytes(UTF_8)),
                WebRequest.post(WORDS + "shout", "application/grpc-web+proto").body(TestFrame.of("hi")),
                WebRequest.of("OPTIONS", WORDS + "shoutJava"),
                WebRequest.of("GET", "/nowhere"),
            }) {
                try (WebClient client = version.connect(port)) {
                    // the clients of this test send the host name localhost, which is not allowed
                    WebAnswer answer = client.send(request);

                    assertThat(answer.status()).as(request.toString()).isEqualTo(421);
                    assertThat(answer.text()).contains("rpc.server.allowed-hosts");
                    assertThat(answer.header("tern-executed")).isEqualTo("no");
                }
            }
        }
    }

    @Test
    void hostOfARequestLineWins() {
        int port = serve("orders.internal");
        String path = WORDS + "shoutJava?text=hi";

        assertThat(status(port, "GET " + path + " HTTP/1.1\r\nhost: Orders.Internal:80\r\n\r\n"))
                .isEqualTo(200);
        assertThat(status(port, "GET " + path + " HTTP/1.1\r\nhost: evil.example\r\n\r\n"))
                .isEqualTo(421);
        assertThat(status(port, "GET " + path + " HTTP/1.0\r\n\r\n")).isEqualTo(421);
    }

    private static int status(int port, String request) {
        try (RawSocket socket = RawSocket.connect(port)) {
            return Http1Wire.read(socket.send(request.getBytes(ISO_8859_1))).status();
        }
    }

    @ParameterizedTest
    @EnumSource
    void everyAnswerForbidsContentSniffing(Version version) {
        int port = serve();
        for (WebRequest request : new WebRequest[] {
            WebRequest.of("GET", WORDS + "shoutJava?text=hi"),
            WebRequest.of("GET", WORDS + "shoutJava.txt?text=hi"),
            WebRequest.of("GET", "/nowhere"),
            WebRequest.of("PUT", WORDS + "shoutJava"),
            WebRequest.post(WORDS + "shoutJava", "odd/type"),
            WebRequest.post(WORDS + "count", "application/json").body("{\"value\":\"2\"}".getBytes(UTF_8)),
            WebRequest.post(WORDS + "shout", "application/grpc-web+proto").body(TestFrame.of("hi")),
            WebRequest.post(WORDS + "shout", "application/connect+proto").body(TestFrame.of("hi")),
            WebRequest.of("OPTIONS", WORDS + "shoutJava")
                    .with("origin", "https://shop.example")
                    .with("access-control-request-method", "POST"),
            WebRequest.post(WORDS + "shoutJava", "application/json").with("origin", "https://evil.example"),
        }) {
            try (WebClient client = version.connect(port)) {
                WebAnswer answer = client.send(request);

                assertThat(answer.header("x-content-type-options"))
                        .as(request + ": " + answer.status())
                        .isEqualTo("nosniff");
            }
        }
    }

    @Test
    void answerToAMalformedRequestForbidsContentSniffingToo() {
        int port = serve();
        try (RawSocket socket = RawSocket.connect(port)) {
            Http1Wire.Answer answer =
                    Http1Wire.read(socket.send("GET / HTTP/1.1\r\nhost: a b\r\n\r\n".getBytes(ISO_8859_1)));

            assertThat(answer.status()).isEqualTo(400);
            assertThat(answer.head()).containsEntry("x-content-type-options", "nosniff");
        }
    }
}
