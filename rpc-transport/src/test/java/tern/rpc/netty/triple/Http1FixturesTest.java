package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.example.wire.GreetServer;
import com.example.wire.Person;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.peer.RawSocket;
import tern.rpc.netty.triple.Http1Wire.Answer;
import tern.rpc.server.ServiceExport;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Replays every captured HTTP/1.1 request against Tern's server. This class lists each difference from the captured
 * answers with its reason.
 */
@Timeout(120)
class Http1FixturesTest {

    /**
     * Compares Tern's answers to one request with the captured answers. There are two answers if the first is an
     * interim answer (1xx).
     */
    private interface Expectation {
        void check(List<Answer> ours, List<Answer> captured);
    }

    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final Map<String, Expectation> CASES = new TreeMap<>();
    private static final TripleSides SIDES = new TripleSides();
    private static final TreeSet<String> MARKED = new TreeSet<>();
    private static int port;
    private static int markedPort;

    static {
        same("accept-star charset echo-array echo-bare-string echo-unicode expect gzip-accept keepalive map-two-args"
                + " no-content-type null-nobody null-result obj-named-multi overload-sig-ii overload-sig-ll pb-json"
                + " pb-json-arr pojo-array put query-plus-body rest-version-group sse-noaccept version-group"
                + " void-result cors-preflight-actual options-cors");
        sameError("accept-foo accept-xml checked health-json no-method no-service openapi openapi2 overload-sig"
                + " overload-sig2 pb-fail root");

        // The next requests use GET or have a body that is not JSON, so they are sent to a server with the required
        // features enabled.
        marked("HEAD ext-json form-params get-json-param get-nul get-query-params get-query-pojo text-plain");

        ours("4.4: a text is no page", "accept-browser", value("\"x\""));
        ours("4.4: YAML names classes", "accept-yaml", error(415, "application/yaml"));
        ours("4.1: whoever is ambiguous is told the choice", "add-array", error(400, "add~ii, add~ll"));
        ours("4.7: attachments are headers", "attachments", Http1FixturesTest::attachments);
        ours("4.5: what is no JSON is the caller's fault", "bad-json", error(400, "JSON"));
        ours("4.3: bytes are base64 in JSON", "bytes", value("\"AAEC\""));
        ours("4.3: bytes are base64 in JSON", "bytes-arr", value("\"AAEC\""));
        ours("two lengths are one too many", "chunked", error(400, "contradict"));
        ours("an object by name", "echo-object", value("\"hello\""));
        ours("README: captured without names of parameters", "form", value("\"hello\""));
        ours("README: captured without names of parameters", "get-query", value("\"hello\""));
        ours("README: captured without names of parameters", "get-query-arg", error(400, "unknown argument 'arg0'"));
        ours("7.2: gRPC needs HTTP/2, and is told so", "grpc-h1", Http1FixturesTest::grpc);
        ours("3.12: gRPC-Web is answered, wrappers are not for it", "grpc-web", Http1FixturesTest::grpcWeb);
        ours("4.1: a wrong version is not another one", "no-version-match", error(404, "9.9.9"));
        ours("4.3: times are RFC 3339", "pojo-object", Http1FixturesTest::born);
        ours("7.2: protobuf by Connect", "proto-ct", Http1FixturesTest::protobuf);
        ours("4.8: pages of other sites ask before", "post-origin", error(403, "rpc.server.cors.allowed-origins"));
        ours("4.6: items are always JSON", "sse", events("data:\"s0\"\n\n", "data:\"s1\"\n\n", "data:\"s2\"\n\n"));
        ours(
                "4.6: an error looks like none of the items",
                "sse-fail",
                events(
                        "data:\"s\"\n\n",
                        "event:error\ndata:{\"code\":\"unknown\",\"message\":\"strm \u00e9 fail\",\"status\":\"500\"}\n\n"));
        ours("streams over HTTP/1.1 are refused", "stream-err-before", error(505, "takes a stream"));
        ours("4.5: a time-out", "timeout", error(504, "deadline"));
        ours("4.5: with a body", "too-large", error(413, "rpc.limits.max-request"));
        ours("4.2: an array of the wrong length", "toofew", error(400, "array of 2"));
        ours("4.2: an array of the wrong length", "toomany", error(400, "several values"));
        ours("4.5: an exception that is not declared", "unchecked", error(500, "(logged by the server as "));
        ours("7.1: no body that looks like an error of Connect", "unsupported-ct", Http1FixturesTest::unsupported);
        ours("4.5: a value of another type", "wrong-type", error(400, "int"));
    }

    private static void same(String names) {
        each(names, (ours, captured) -> {
            assertThat(ours).hasSameSizeAs(captured);
            for (int i = 0; i < ours.size(); i++) {
                assertSame(ours.get(i), captured.get(i));
            }
        });
    }

    private static void assertSame(Answer ours, Answer captured) {
        assertThat(ours.status()).as(ours.text()).isEqualTo(captured.status());
        assertThat(ours.mediaType()).isEqualTo(captured.mediaType());
        assertThat(ours.text()).isEqualTo(captured.text());
        assertThat(ours.chunks()).isEqualTo(captured.chunks());
        for (String name : List.of("connection", "content-length", "transfer-encoding", "cache-control", "allow")) {
            assertThat(ours.header(name)).as(name).isEqualTo(captured.header(name));
        }
        // Tern does not send the header alt-svc (docs/wire-protocol.md 4.3).
        assertThat(ours.head()).doesNotContainKey("alt-svc");
    }

    private static void marked(String names) {
        same(names);
        MARKED.addAll(List.of(names.split(" ")));
    }

    /** Expects the captured status. For the statuses 500 and 403, also expects the captured message. */
    private static void sameError(String names) {
        each(names, (ours, captured) -> {
            int status = captured.get(0).status();
            error(status, "").check(ours, captured);
            if (status == 500 || status == 403) {
                assertThat(json(ours).get("message"))
                        .isEqualTo(JSON.readTree(captured.get(0).text()).get("message"));
            }
        });
    }

    private static void each(String names, Expectation expectation) {
        for (String name : names.split(" ")) {
            CASES.put(name, expectation);
        }
    }

    /**
     * Expects an answer from Tern that differs from the captured one.
     *
     * @param why the reason for the difference: a section of docs/wire-protocol.md or another reason
     */
    private static void ours(String why, String name, Expectation expectation) {
        assertThat(why).isNotEmpty();
        CASES.put(name, expectation);
    }

    private static Expectation value(String json) {
        return (ours, captured) -> {
            assertThat(ours).hasSize(1);
            assertThat(ours.get(0).text()).isEqualTo(json);
            assertThat(ours.get(0).status()).isEqualTo(200);
            assertThat(ours.get(0).header("content-type")).isEqualTo("application/json");
        };
    }

    private static Expectation error(int status, String text) {
        return (ours, captured) -> {
            assertThat(ours).hasSize(1);
            assertThat(ours.get(0).status()).as(ours.get(0).text()).isEqualTo(status);
            assertThat(ours.get(0).header("content-type")).isEqualTo("application/json");
            JsonNode body = json(ours);
            assertThat(body.get("status").asString()).isEqualTo(String.valueOf(status));
            assertThat(body.get("message").asString()).isNotEmpty().contains(text);
            assertThat(body.get("code").asString()).matches("[a-z_]+");
        };
    }

    private static JsonNode json(List<Answer> ours) {
        return JSON.readTree(ours.get(0).text());
    }

    private static Expectation events(String... events) {
        return (ours, captured) -> {
            assertThat(ours.get(0).header("content-type")).isEqualTo("text/event-stream");
            assertThat(ours.get(0).text()).isEqualTo(String.join("", events));
        };
    }

    private static void attachments(List<Answer> ours, List<Answer> captured) {
        assertSame(ours.get(0), captured.get(0));
        assertThat(ours.get(0).head())
                .containsEntry("resp-key", "resp-val")
                .containsEntry("respcamel", "v2")
                .containsEntry("resp-bytes-bin", "AQL/");
    }

    private static void born(List<Answer> ours, List<Answer> captured) {
        assertThat(ours.get(0).text())
                .isEqualTo(captured.get(0).text().replace("1998-05-08 09:51:31", "1998-05-08T09:51:31.000Z"));
    }

    private static void unsupported(List<Answer> ours, List<Answer> captured) {
        assertThat(ours.get(0).status()).isEqualTo(captured.get(0).status());
        assertThat(ours.get(0).mediaType()).isEqualTo("text/plain");
        assertThat(ours.get(0).header("accept-post")).contains("application/json");
    }

    private static void grpc(List<Answer> ours, List<Answer> captured) {
        assertThat(ours.get(0).status()).isEqualTo(505);
        assertThat(ours.get(0).text()).isEqualTo("gRPC needs HTTP/2");
    }

    private static void grpcWeb(List<Answer> ours, List<Answer> captured) {
        assertThat(ours.get(0).status()).isEqualTo(200);
        assertThat(ours.get(0).header("content-type")).isEqualTo("application/grpc-web+proto");
        assertThat(ours.get(0).header("grpc-status")).isEqualTo("12");
    }

    private static void protobuf(List<Answer> ours, List<Answer> captured) {
        assertThat(ours.get(0).status()).isEqualTo(200);
        assertThat(ours.get(0).header("content-type")).isEqualTo("application/proto");
        assertThat(ours.get(0).text()).isEqualTo("\n\5hi pb");
    }

    @BeforeAll
    static void start() {
        port = SIDES.serve(limits -> limits, settings -> {}).port();
        GreetServer greet = new GreetServer();
        MarkedGreetService marked = new MarkedGreetService() {
            @Override
            public @Nullable String echo(@Nullable String s) {
                return greet.echo(s);
            }

            @Override
            public Person pojo(Person p) {
                return greet.pojo(p);
            }

            @Override
            public @Nullable String nul() {
                return greet.nul();
            }
        };
        markedPort = SIDES.serve(
                        ServerTransportSettings.onPort(0),
                        new HttpSettings(Cors.off(), true, true),
                        server -> server.export(ServiceExport.of(MarkedGreetService.class, marked)))
                .port();
    }

    @AfterAll
    static void stop() throws Exception {
        SIDES.close();
    }

    @TestFactory
    Stream<DynamicTest> capturedRequestsAreAnsweredAsCapturedOrBetter() {
        return CASES.keySet().stream().map(name -> dynamicTest(name, () -> replay(name)));
    }

    private static void replay(String name) {
        byte[] request = file(name + ".request.bin");
        boolean readOnly = MARKED.contains(name)
                || List.of("form", "get-query", "get-query-arg").contains(name);
        List<Answer> ours = new ArrayList<>();
        try (RawSocket socket = RawSocket.connect(readOnly ? markedPort : port)) {
            socket.send(request);
            do {
                ours.add(name.equals("HEAD") ? Http1Wire.readHead(socket) : Http1Wire.read(socket));
            } while (ours.get(ours.size() - 1).status() < 200);
            if (ours.get(0).header("connection").equals("close")) {
                assertThat(socket.isClosedByPeer())
                        .as("nothing follows the answer")
                        .isTrue();
            }
        }
        CASES.get(name).check(ours, Http1Wire.parse(file(name + ".response.bin"), name.equals("HEAD")));
    }

    @Test
    void everyFileIsNamed() throws IOException {
        try (Stream<Path> files = Files.list(folder())) {
            TreeSet<String> names = files.map(
                            file -> file.getFileName().toString().split("\\.", 2)[0])
                    .collect(Collectors.toCollection(TreeSet::new));
            assertThat(CASES.keySet()).isEqualTo(names);
        }
    }

    private static byte[] file(String name) {
        try {
            return Files.readAllBytes(folder().resolve(name));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path folder() {
        try {
            return Path.of(Objects.requireNonNull(Http1FixturesTest.class.getResource("/wire/http1"))
                    .toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
