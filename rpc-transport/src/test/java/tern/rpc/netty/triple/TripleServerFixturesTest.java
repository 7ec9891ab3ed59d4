package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import tern.rpc.netty.triple.Http2Wire.Answer;

/** Replays every captured Triple request against Tern's server. */
@Timeout(120)
class TripleServerFixturesTest {

    /** Compares Tern's answer with the captured answer. */
    private interface Expectation {
        void check(Answer ours, Answer captured);
    }

    private static final TripleSides SIDES = new TripleSides();
    private static final Map<String, Expectation> CONSUMER = new LinkedHashMap<>();
    private static final Map<String, Expectation> CURL = new LinkedHashMap<>();
    private static int port;

    static {
        consumer(
                TripleServerFixturesTest::same,
                "echo pojo null void oneway overload-int overload-long version-group record unicode bytes async"
                        + " types-instant types-localdatetime types-zdt types-bigdecimal types-uuid types-enum"
                        + " bigstring echo-service generic protobuf server-stream bi-stream map-list");
        consumer(TripleServerFixturesTest::sameAttachments, "attachments");
        consumer(exception("com.example.wire.BizException", "biz:x"), "exception-checked");
        consumer(exception("java.lang.IllegalArgumentException", "bad:x"), "exception-unchecked");
        consumer(exception("GenericException", "biz:gx"), "generic-exception");
        consumer(status(12, "nope"), "generic-nomethod");
        consumer((ours, captured) -> assertThat(ours.text()).contains("Person"), "generic-pojo");
        consumer(status(7, "no %C3%A9%25%0Aentry"), "protobuf-error");
        consumer(status(2, "strm %C3%A9 fail"), "server-stream-fail");
        consumer(status(12, "9.9.9"), "notfound-service");
        consumer(status(4, "deadline"), "timeout");

        curl(TripleServerFixturesTest::same, "grpc-echo grpc-hessian2 grpc-noargtypes grpc-nte grpc-upper grpc-pbok");
        curl(TripleServerFixturesTest::same, "grpc-acceptgzip");
        curl(TripleServerFixturesTest::sameAttachments, "grpc-attach");
        curl(status(12, "grpc-encoding 'foo'"), "grpc-badenc");
        curl(status(3, "hessian9"), "grpc-badserial");
        curl(status(3, ""), "grpc-garbage");
        curl(httpStatus("405"), "grpc-get");
        curl(status(12, "nomethod"), "grpc-nomethod");
        curl(status(12, "no.such.Svc"), "grpc-noservice");
        curl(status(13, "within a message"), "grpc-json");
        curl(status(7, "no %C3%A9%25%0Aentry"), "grpc-pberr");
        curl(status(4, "deadline"), "grpc-timeout");
        curl((ours, captured) -> assertThat(ours.text()).endsWith("hi pb"), "gzip-req");
        curl(httpStatus("415"), "h2-alias-ct");
        curl(status(12, "takes one message"), "two-frames");
        curl(status(12, ""), "prefixed-path");
        curl(status(3, "StringValue"), "pb-status5");
        curl(TripleServerFixturesTest::connectProto, "proto-h2");
        curl(status(12, "application/grpc-web%2Bjson"), "grpc-web");
    }

    private static void consumer(Expectation expectation, String names) {
        Arrays.stream(names.split(" ")).forEach(name -> CONSUMER.put(name, expectation));
    }

    private static void curl(Expectation expectation, String names) {
        Arrays.stream(names.split(" ")).forEach(name -> CURL.put(name, expectation));
    }

    private static void same(Answer ours, Answer captured) {
        assertThat(ours.header("grpc-status")).isEqualTo(captured.header("grpc-status"));
        assertThat(ours.data.toByteArray()).asHexString().isEqualTo(hex(captured.data.toByteArray()));
        assertThat(ours.head().status()).asString().isEqualTo("200");
        assertThat(ours.head().get("content-type")).asString().isEqualTo("application/grpc");
        assertThat(ours.head().get("tri-exception-code")).isNull();
    }

    private static String hex(byte[] bytes) {
        return java.util.HexFormat.of().withUpperCase().formatHex(bytes);
    }

    private static void sameAttachments(Answer ours, Answer captured) {
        same(ours, captured);
        for (String name : List.of("resp-key", "respcamel", "resp-bytes-bin", "tri-header-convert")) {
            assertThat(ours.header(name)).as(name).isEqualTo(captured.header(name));
        }
    }

    private static Expectation status(int code, String text) {
        return (ours, captured) -> {
            assertThat(ours.header("grpc-status"))
                    .as(ours.header("grpc-message"))
                    .isEqualTo(String.valueOf(code));
            assertThat(ours.header("grpc-message")).contains(text);
            assertThat(ours.head().status()).asString().isEqualTo("200");
        };
    }

    /**
     * Checks Tern's answer to a Connect request. The answer differs from the captured answer, because the captured
     * provider does not support Connect.
     */
    private static void connectProto(Answer ours, Answer captured) {
        assertThat(ours.head().status()).asString().isEqualTo("200");
        assertThat(ours.head().get("content-type")).asString().isEqualTo("application/proto");
        assertThat(ours.text()).isEqualTo("\n\u0005hi pb");
    }

    private static Expectation httpStatus(String code) {
        return (ours, captured) -> assertThat(ours.head().status()).asString().isEqualTo(code);
    }

    private static Expectation exception(String type, String message) {
        return (ours, captured) -> {
            assertThat(ours.header("grpc-status")).isEqualTo("0");
            assertThat(ours.head().get("tri-exception-code")).asString().isEqualTo("3");
            assertThat(ours.text()).contains(type, message);
        };
    }

    @BeforeAll
    static void start() {
        port = SIDES.serve(limits -> limits, server -> server.genericCalls(true))
                .port();
    }

    @AfterAll
    static void stop() throws Exception {
        SIDES.close();
    }

    @TestFactory
    Stream<DynamicTest> requestsOfDubboConsumersAreAnsweredAsCaptured() {
        return CONSUMER.keySet().stream()
                .map(name -> dynamicTest(name, () -> compare("triple-h2", name, 3, CONSUMER.get(name))));
    }

    @TestFactory
    Stream<DynamicTest> requestsOfCurlAreAnsweredAsCaptured() {
        return CURL.keySet().stream()
                .map(name -> dynamicTest(name, () -> compare("triple-raw", name, 1, CURL.get(name))));
    }

    private static void compare(String folder, String name, int stream, Expectation expectation) {
        Answer ours = Http2Wire.replay(port, file(folder, name + ".c2s.bin"), stream);
        Answer captured = Http2Wire.parse(file(folder, name + ".s2c.bin"), stream);
        expectation.check(ours, captured);
    }

    private static byte[] file(String folder, String name) {
        try {
            return Files.readAllBytes(folder(folder).resolve(name));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path folder(String folder) {
        URL url = Objects.requireNonNull(TripleServerFixturesTest.class.getResource("/wire/" + folder));
        try {
            return Path.of(url.toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * The captured requests that this test does not replay, because other tests cover them: an incomplete request, and
     * requests of protocols other than gRPC.
     */
    private static final List<String> ELSEWHERE = List.of(
            "types-optional",
            "h2c-upgrade",
            "health-check",
            "health-unknown",
            "json-h2-err",
            "json-h2-stream",
            "json-h2",
            "metadata-v1-tri",
            "metadata-v2",
            "reflection-v1",
            "reflection-v1alpha");

    @Test
    void everyFileIsNamed() throws IOException {
        assertThat(names("triple-h2")).allMatch(name -> CONSUMER.containsKey(name) || ELSEWHERE.contains(name));
        assertThat(names("triple-raw")).allMatch(name -> CURL.containsKey(name) || ELSEWHERE.contains(name));
    }

    private static TreeSet<String> names(String folder) throws IOException {
        TreeSet<String> names = new TreeSet<>();
        try (Stream<Path> files = Files.list(folder(folder))) {
            files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".c2s.bin"))
                    .forEach(name -> names.add(name.substring(0, name.length() - ".c2s.bin".length())));
        }
        return names;
    }
}
