package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.example.wire.GreetServer;
import com.example.wire.GreetService;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.peer.CapturedLog;
import tern.rpc.netty.peer.RawSocket;
import tern.rpc.netty.triple.Http1Wire.Answer;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/** Tests access to services by web pages from other origins. */
@Timeout(60)
class CorsTest {

    private static final String SHOP = "https://shop.example";
    private static final String OTHER = "https://other.example";
    private static final String PATH = "/com.example.wire.GreetService/";

    private final TripleSides sides = new TripleSides();

    @AfterEach
    void close() throws Exception {
        sides.close();
    }

    private RpcServer serve(Cors cors) {
        GreetServer greet = new GreetServer();
        return sides.serve(
                ServerTransportSettings.onPort(0),
                new HttpSettings(cors, false, false),
                server -> server.export(ServiceExport.of(GreetService.class, greet)));
    }

    private static Cors allowing(String... origins) {
        return new Cors(Set.of(origins), Set.of(), false, Duration.ofMinutes(10));
    }

    private static Answer send(RpcServer server, String method, String path, String headers, String body) {
        try (RawSocket socket = RawSocket.connect(server.port())) {
            String head = method + " " + PATH + path + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "Content-Length: "
                    + body.length() + "\r\n\r\n";
            socket.send((head + body).getBytes(UTF_8));
            return Http1Wire.read(socket);
        }
    }

    private static Answer post(RpcServer server, String origin) {
        return send(server, "POST", "echo", "Origin: " + origin + "\r\n", "\"attached\"");
    }

    private static Answer preflight(RpcServer server, String origin, String headers) {
        return send(
                server,
                "OPTIONS",
                "echo",
                "Origin: " + origin + "\r\nAccess-Control-Request-Method: POST\r\n" + headers,
                "");
    }

    @Test
    void pagesMayNotCallWithoutConfiguration() {
        RpcServer server = serve(Cors.off());

        Answer refused = post(server, SHOP);
        assertThat(refused.status()).isEqualTo(403);
        assertThat(refused.text()).contains("permission_denied", "rpc.server.cors.allowed-origins");
        assertThat(preflight(server, SHOP, "").head()).doesNotContainKey("access-control-allow-origin");
        assertThat(send(server, "POST", "echo", "", "\"no page\"").status()).isEqualTo(200);
    }

    @Test
    void configuredPageMayCallAndReadTheAnswersHeaders() {
        Answer answer = post(serve(allowing(SHOP)), SHOP);

        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.header("access-control-allow-origin")).isEqualTo(SHOP);
        assertThat(answer.header("access-control-expose-headers").split(", ")).contains("resp-key", "resp-bytes-bin");
        assertThat(answer.header("vary")).isEqualTo("origin");
        assertThat(answer.head()).doesNotContainKey("access-control-allow-credentials");
    }

    @Test
    void namedPageSeesErrorsToo() {
        RpcServer server = serve(allowing(SHOP));

        Answer unknown = send(server, "POST", "nomethod", "Origin: " + SHOP + "\r\n", "1");
        Answer failed = send(server, "POST", "checked", "Origin: " + SHOP + "\r\n", "\"x\"");

        assertThat(unknown.status()).isEqualTo(404);
        assertThat(unknown.header("access-control-allow-origin")).isEqualTo(SHOP);
        assertThat(failed.status()).isEqualTo(500);
        assertThat(failed.header("access-control-allow-origin")).isEqualTo(SHOP);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {OTHER, "https://shop.example.evil", "http://shop.example", "https://shop.example:444", "null"})
    void otherPagesMayNotCall(String origin) {
        RpcServer server = serve(allowing(SHOP));

        assertThat(post(server, origin).status()).isEqualTo(403);
        assertThat(preflight(server, origin, "").status()).isEqualTo(403);
        assertThat(post(server, origin).head()).doesNotContainKey("access-control-allow-origin");
        for (String method : new String[] {"PUT", "PATCH", "DELETE"}) {
            assertThat(send(server, method, "echo", "Origin: " + origin + "\r\n", "\"x\"")
                            .status())
                    .isEqualTo(403);
        }
    }

    @Test
    void refusedPagesAreLoggedOnceWithTheRemedy() {
        RpcServer server = serve(Cors.off());
        try (CapturedLog log = new CapturedLog(CorsGate.class.getName())) {
            preflight(server, SHOP, "");
            post(server, SHOP);
            send(server, "GET", "echo", "Origin: " + OTHER + "\r\n", "");
            post(server, "null");
            post(server, "null");

            assertThat(log.lines()).hasSize(3);
            assertThat(log.lines().get(0))
                    .contains("A page of " + SHOP + " in a browser at ", "127.0.0.1")
                    .contains("rpc.server.cors.allowed-origins", "If the page is yours, add " + SHOP);
            assertThat(log.lines().get(1)).contains("add " + OTHER);
            assertThat(log.lines().get(2)).contains("a page opened from a file has no origin");
        }
    }

    @Test
    void callersCannotFillTheLogWithOrigins() {
        RpcServer server = serve(allowing(SHOP));
        try (CapturedLog log = new CapturedLog(CorsGate.class.getName())) {
            for (int i = 0; i < 150; i++) {
                assertThat(post(server, "https://" + i + ".example").status()).isEqualTo(403);
            }
            post(server, SHOP);

            assertThat(log.lines()).hasSize(100);
        }
    }

    @Test
    void answersVaryByOriginForCaches() {
        RpcServer server = serve(allowing(SHOP));

        assertThat(send(server, "POST", "echo", "", "\"no page\"").header("vary"))
                .isEqualTo("origin");
        Answer read = send(server, "GET", "echo", "Origin: " + OTHER + "\r\n", "");
        // the server answers the request, but a browser would hide the answer from the page
        assertThat(read.status()).isEqualTo(405);
        assertThat(read.head()).doesNotContainKey("access-control-allow-origin");
    }

    @Test
    void preflightRequestGetsThePermittedHeaders() {
        Answer answer =
                preflight(serve(allowing(SHOP)), SHOP, "Access-Control-Request-Headers: content-type,x-mine\r\n");

        assertThat(answer.status()).isEqualTo(204);
        assertThat(answer.header("access-control-allow-origin")).isEqualTo(SHOP);
        assertThat(answer.header("access-control-allow-methods").split(",")).contains("POST", "GET");
        assertThat(answer.header("access-control-allow-headers")).isEqualTo("content-type,x-mine");
        assertThat(answer.header("access-control-max-age")).isEqualTo("600");
        assertThat(answer.header("vary"))
                .isEqualTo("origin, access-control-request-method, access-control-request-headers");
    }

    @Test
    void headersAndCredentialsFollowTheSettings() {
        RpcServer server =
                serve(new Cors(Set.of(SHOP, OTHER), Set.of("x-two", "content-type"), true, Duration.ofSeconds(5)));

        Answer answer = preflight(server, OTHER, "Access-Control-Request-Headers: x-mine\r\n");

        assertThat(answer.header("access-control-allow-origin")).isEqualTo(OTHER);
        assertThat(answer.header("access-control-allow-headers")).isEqualTo("content-type, x-two");
        assertThat(answer.header("access-control-allow-credentials")).isEqualTo("true");
        assertThat(post(server, OTHER).header("access-control-allow-credentials"))
                .isEqualTo("true");
    }

    @Test
    void everyPageMayCallIfTheSettingsAllowIt() {
        RpcServer server = serve(allowing("*"));

        assertThat(post(server, OTHER).header("access-control-allow-origin")).isEqualTo("*");
        assertThat(post(server, "null").status()).isEqualTo(200);
    }

    @Test
    void malformedHeaderNamesAreNotPermitted() {
        Answer answer = preflight(serve(allowing(SHOP)), SHOP, "Access-Control-Request-Headers: <script>\r\n");

        assertThat(answer.head()).doesNotContainKey("access-control-allow-headers");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"shop.example", "https://shop.example/", "https://shop.example/path", "https://*.example", ""})
    void settingThatIsNoOriginIsRefused(String origin) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> allowing(origin))
                .withMessageContaining("'" + origin + "' is not an origin");
    }

    @Test
    void everyPageWithCredentialsIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Cors(Set.of("*"), Set.of(), true, Duration.ZERO))
                .withMessageContaining("credentials");
    }
}
