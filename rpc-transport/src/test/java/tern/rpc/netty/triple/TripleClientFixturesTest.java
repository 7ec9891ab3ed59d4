package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.example.wire.BizException;
import com.example.wire.Color;
import com.example.wire.GreetService;
import com.example.wire.PbService;
import com.example.wire.Person;
import com.example.wire.Point;
import com.example.wire.StreamService;
import com.google.protobuf.StringValue;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.net.URISyntaxException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.StatusCode;
import tern.rpc.netty.peer.CapturedValues;
import tern.rpc.netty.peer.RawServer;
import tern.rpc.netty.triple.Http2Script.Frame;
import tern.rpc.netty.triple.Http2Script.Request;
import tern.rpc.netty.triple.Requests.Opened;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.SerializationException;
import tern.rpc.transport.BuiltInMethods;
import tern.rpc.transport.ClientConnection;
import tern.rpc.transport.GenericException;
import tern.rpc.transport.PendingCall;

/** Replays every captured or scripted answer of a Triple server to Tern's client. */
@Timeout(120)
class TripleClientFixturesTest {

    private static final ServiceDescriptor GREET = ServiceDescriptor.of(GreetService.class);
    private static final ServiceDescriptor PROTOBUF = ServiceDescriptor.of(PbService.class);
    private static final ServiceDescriptor STREAMS = ServiceDescriptor.of(StreamService.class);

    private static final Requests REQUESTS = new Requests();

    @AfterAll
    static void stop() {
        REQUESTS.close();
    }

    /** A call, and a check of its result: a Response or a Throwable. */
    private record Case(Invocation call, Consumer<Object> judge) {}

    private static final Map<String, Case> CAPTURED = new LinkedHashMap<>();

    static {
        greet("echo", value("hello"), "echo", "hello");
        greet("pojo", value(CapturedValues.ann()), "pojo", CapturedValues.ann());
        greet("exception-checked", thrown(new BizException("biz:x", 42)), "checked", "x");
        greet("exception-unchecked", thrown(new IllegalArgumentException("bad:x")), "unchecked", "x");
        greet("null", value(null), "nul");
        greet("void", value(null), "nothing", "x");
        greet("oneway", value(null), "oneway", "fire");
        captured("overload-int", value(3), REQUESTS.call(overload("II"), 1, 2));
        captured("overload-long", value(3L), REQUESTS.call(overload("JJ"), 1L, 2L));
        greet("version-group", value("vg"), "echo", "vg");
        greet("notfound-service", value("x"), "echo", "x");
        greet("record", value(new Point(3, 4)), "record", new Point(3, 4));
        greet("unicode", value("hé中😀"), "echo", "hé中😀");
        greet("bytes", value(new byte[] {0, 1, 2, 3}), "bytes", new byte[] {0, 1, 2, 3});
        greet("async", value("async:q"), "async", "q");
        greet(
                "map-list",
                value(CapturedValues.map()),
                "map",
                CapturedValues.map(),
                new ArrayList<>(List.of(new Person())));
        type("types-instant", Instant.ofEpochSecond(1_700_000_000L, 5));
        type("types-localdatetime", LocalDateTime.of(2024, 1, 2, 3, 4, 5));
        type("types-zdt", LocalDateTime.of(2024, 1, 2, 3, 4, 5).atZone(ZoneId.of("UTC")));
        type("types-bigdecimal", new BigDecimal("123.4500"));
        type("types-uuid", UUID.fromString("123e4567-e89b-12d3-a456-426614174000"));
        type("types-enum", Color.RED);
        greet("bigstring", value("x".repeat(40_000)), "echo", "x".repeat(40_000));
        greet("timeout", status(StatusCode.DEADLINE_EXCEEDED, "HttpRequestTimeout"), "slow", 5_500);
        greet("attachments", TripleClientFixturesTest::hasAttachments, "echo", "att");
        captured(
                "protobuf",
                value(StringValue.of("hi pb")),
                REQUESTS.call(method(PROTOBUF, "hello"), StringValue.of("pb")));
        captured(
                "protobuf-error",
                status(StatusCode.PERMISSION_DENIED, "no é%\nentry"),
                REQUESTS.call(method(PROTOBUF, "fail"), StringValue.of("pb")));
        builtIn("echo-service", value("OK"), "$echo", "OK");
        builtIn("generic", value("gen"), "$invoke", "echo", new String[] {"java.lang.String"}, new Object[] {"gen"});
        builtIn(
                "generic-pojo",
                answer -> assertThat(((Response) answer).value())
                        .isInstanceOfSatisfying(
                                Map.class, map -> assertThat(map.get("name")).isEqualTo("G")),
                "$invoke",
                "pojo",
                new String[] {"com.example.wire.Person"},
                new Object[] {person()});
        builtIn(
                "generic-exception",
                outcome -> assertThat(outcome)
                        .isInstanceOfSatisfying(
                                GenericException.class,
                                failure -> assertThat(failure).hasMessageContaining("biz:gx")),
                "$invoke",
                "checked",
                new String[] {"java.lang.String"},
                new Object[] {"gx"});
        builtIn(
                "generic-nomethod",
                status(StatusCode.UNKNOWN, "No such method nope"),
                "$invoke",
                "nope",
                new String[] {},
                new Object[] {});
    }

    /**
     * The captured requests that this test does not replay: streaming requests, and a request from a consumer that
     * could not encode its argument.
     */
    private static final List<String> CAPTURED_OTHERWISE =
            List.of("types-optional", "server-stream", "server-stream-fail", "bi-stream");

    private static void greet(String name, Consumer<Object> judge, String method, Object... arguments) {
        captured(name, judge, REQUESTS.call(method(GREET, method), arguments));
    }

    private static void type(String name, Object value) {
        greet(name, value(value), "types", value);
    }

    private static void builtIn(String name, Consumer<Object> judge, String method, Object... arguments) {
        Invocation call = REQUESTS.call(method(BuiltInMethods.DESCRIPTOR, method), arguments);
        captured(
                name,
                judge,
                new Invocation(
                        new ServiceKey(GREET.name(), "", ""),
                        call.method(),
                        call.arguments(),
                        call.metadata(),
                        call.deadline(),
                        call.executor()));
    }

    private static void captured(String name, Consumer<Object> judge, Invocation call) {
        Invocation made = call;
        if (name.equals("version-group")) {
            made = withKey(call, "g1", "1.2.3");
        } else if (name.equals("notfound-service")) {
            made = withKey(call, "", "9.9.9");
        } else if (name.equals("attachments")) {
            made.metadata()
                    .put("trace-id", "abc-123")
                    .put("CamelKey", "CamelVal")
                    .put("bytes", new byte[] {1, 2, -1})
                    .put("num", "7");
        } else if (name.startsWith("generic")) {
            made.metadata().put("generic", "true");
        }
        CAPTURED.put(name, new Case(made, judge));
    }

    private static Invocation withKey(Invocation call, String group, String version) {
        return new Invocation(
                new ServiceKey(GREET.name(), group, version),
                call.method(),
                call.arguments(),
                call.metadata(),
                call.deadline(),
                call.executor());
    }

    private static MethodDescriptor method(ServiceDescriptor service, String name) {
        return service.overloads(name).get(0);
    }

    private static MethodDescriptor overload(String descriptor) {
        return Objects.requireNonNull(GREET.method("add", descriptor));
    }

    private static Map<String, Object> person() {
        Map<String, Object> person = new HashMap<>();
        person.put("name", "G");
        person.put("age", 3);
        return person;
    }

    private static Consumer<Object> value(Object expected) {
        return outcome -> {
            assertThat(outcome).isInstanceOf(Response.class);
            assertThat(((Response) outcome).value()).isEqualTo(expected);
        };
    }

    private static Consumer<Object> thrown(Throwable expected) {
        return outcome -> {
            assertThat((Throwable) outcome).hasSameClassAs(expected).hasMessage(expected.getMessage());
            if (outcome instanceof BizException biz) {
                assertThat(biz.getCode()).isEqualTo(42);
            }
        };
    }

    private static Consumer<Object> status(StatusCode code, String text) {
        return outcome -> {
            assertThat(outcome).isInstanceOf(RpcException.class);
            RpcException failure = (RpcException) outcome;
            assertThat(failure.code()).as(failure.getMessage()).isEqualTo(code);
            assertThat(failure.status().description()).contains(text);
        };
    }

    private static void hasAttachments(Object outcome) {
        value("att").accept(outcome);
        Metadata trailers = ((Response) outcome).metadata();
        assertThat(trailers.names()).containsExactlyInAnyOrder("resp-key", "RespCamel", "resp-bytes-bin");
        assertThat(trailers.get("resp-key")).isEqualTo("resp-val");
        assertThat(trailers.get("RespCamel")).isEqualTo("v2");
        assertThat(trailers.getBytes("resp-bytes")).containsExactly(1, 2, -1);
        assertThat(((Response) outcome).headers().isEmpty()).isTrue();
    }

    private static byte[] file(String name) {
        try {
            return Files.readAllBytes(folder("").resolve(name));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path folder(String name) {
        try {
            return Path.of(Objects.requireNonNull(TripleClientFixturesTest.class.getResource("/wire/" + name))
                    .toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private static TreeSet<String> names(String folder, String start, String ending) throws IOException {
        try (Stream<Path> files = Files.list(folder(folder))) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.startsWith(start) && name.endsWith(ending))
                    .map(name -> name.substring(0, name.length() - ending.length()))
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }

    @Test
    void everyCapturedFileIsTested() throws IOException {
        TreeSet<String> captured = new TreeSet<>(CAPTURED.keySet());
        captured.addAll(CAPTURED_OTHERWISE);
        assertThat(captured).isEqualTo(names("triple-h2", "", ".s2c.bin"));
        assertThat(new TreeSet<>(SCRIPTED.keySet())).isEqualTo(names("fake-server", "tri-", ".reply.bin"));
    }

    private static Object outcome(PendingCall pending) {
        try {
            return pending.await();
        } catch (Throwable e) {
            return e;
        }
    }

    /** Returns the captured request with stream id 3, which is the id that Tern's client uses. */
    private static Request captured(String name) {
        byte[] whole = file("triple-h2/" + name + ".c2s.bin");
        List<Frame> frames = Http2Script.frames(Arrays.copyOfRange(whole, 24, whole.length));
        return Http2Script.request(frames);
    }

    @TestFactory
    Stream<DynamicTest> ourRequestIsTheCapturedOneAndItsAnswerIsUnderstood() {
        return CAPTURED.keySet().stream().map(name -> dynamicTest(name, () -> exchange(name)));
    }

    private static void exchange(String name) {
        Case made = CAPTURED.get(name);
        try (RawServer server = RawServer.start()) {
            ClientConnection connection = REQUESTS.connect(server.endpoint());
            PendingCall pending = Requests.send(connection, made.call().withDeadline(Requests.deadline(Requests.LONG)));
            try (Http2Script script = Http2Script.acceptOnly(server)) {
                List<Frame> captured = Http2Script.frames(file("triple-h2/" + name + ".s2c.bin"));
                // The first two captured frames are SETTINGS and WINDOW_UPDATE.
                captured.subList(0, 2).forEach(script::send);
                Request ours = script.request();
                assertSameRequest(name, ours, captured(name));
                captured.subList(2, captured.size()).forEach(script::send);

                made.judge().accept(outcome(pending));
            }
            connection.close();
        }
    }

    private static void assertSameRequest(String name, Request ours, Request captured) {
        assertThat(ours.stream).isEqualTo(3);
        for (String header : List.of(
                ":scheme",
                ":method",
                ":path",
                "content-type",
                "te",
                "tri-service-version",
                "tri-service-group",
                "tri-consumer-appname",
                "trace-id",
                "camelkey",
                "bytes-bin",
                "num",
                "generic",
                "tri-header-convert")) {
            assertThat(ours.header(header)).as(header).isEqualTo(captured.header(header));
        }
        assertThat(ours.header(":authority")).startsWith("127.0.0.1:");
        assertThat(ours.header("user-agent")).startsWith("tern-rpc");
        assertThat(ours.header("grpc-accept-encoding")).isEqualTo("gzip");
        assertThat(GrpcTimeout.parseNanos(ours.header("grpc-timeout"))).isPositive();
        if (!name.startsWith("generic-pojo")) {
            // generic-pojo contains a map whose entries Tern sends in a different order
            assertThat(ours.body.toByteArray()).asHexString().isEqualTo(hex(captured.body.toByteArray()));
        }
    }

    private static String hex(byte[] bytes) {
        return HexFormat.of().withUpperCase().formatHex(bytes);
    }

    @Test
    void capturedServerStreamIsUnderstood() {
        Opened opened = stream("server-stream", "serverStream", "s");

        assertThat(opened.next(Metadata.class).isEmpty()).isTrue();
        assertThat(opened.next()).isEqualTo("s0");
        assertThat(opened.next()).isEqualTo("s1");
        assertThat(opened.next()).isEqualTo("s2");
        assertThat(opened.next(Response.class).value()).isNull();
    }

    @Test
    void capturedFailureOfAStreamComesAfterItsMessages() {
        Opened opened = stream("server-stream-fail", "serverStreamFail", "s");

        opened.next(Metadata.class);
        assertThat(opened.next()).isEqualTo("s");
        status(StatusCode.UNKNOWN, "strm é fail").accept(opened.next(RpcException.class));
    }

    /** Opens a stream, compares its request with the captured request and replays the captured answer. */
    private static Opened stream(String name, String method, String argument) {
        try (RawServer server = RawServer.start()) {
            ClientConnection connection = REQUESTS.connect(server.endpoint());
            Opened opened = REQUESTS.open(connection, REQUESTS.call(method(STREAMS, method), argument));
            opened.stream.request(10);
            Http2Script script = Http2Script.acceptOnly(server);
            List<Frame> frames = Http2Script.frames(file("triple-h2/" + name + ".s2c.bin"));
            frames.subList(0, 2).forEach(script::send);
            Request ours = script.request();
            Request captured = captured(name);
            assertThat(ours.header(":path")).isEqualTo(captured.header(":path"));
            assertThat(ours.body.toByteArray()).asHexString().isEqualTo(hex(captured.body.toByteArray()));
            frames.subList(2, frames.size()).forEach(script::send);
            while (!opened.pending.isDone()) {
                Thread.onSpinWait();
            }
            connection.close();
            script.close();
            return opened;
        }
    }

    @Test
    void capturedBidirectionalStreamIsUnderstood() {
        try (RawServer server = RawServer.start()) {
            ClientConnection connection = REQUESTS.connect(server.endpoint());
            Opened opened = REQUESTS.open(connection, REQUESTS.call(method(STREAMS, "biStream")));
            opened.stream.request(10);
            List<Object> sent = sentPersons();
            sent.forEach(opened.stream::send);
            opened.stream.end();
            Http2Script script = Http2Script.acceptOnly(server);
            List<Frame> frames = Http2Script.frames(file("triple-h2/bi-stream.s2c.bin"));
            frames.subList(0, 2).forEach(script::send);
            Request ours = script.request();
            assertThat(ours.header(":path")).isEqualTo("/com.example.wire.StreamService/biStream");
            assertThat(ours.body.toByteArray())
                    .asHexString()
                    .isEqualTo(hex(captured("bi-stream").body.toByteArray()));

            frames.subList(2, frames.size()).forEach(script::send);

            opened.next(Metadata.class);
            assertThat(opened.next(Person.class)).isEqualTo(sent.get(0));
            assertThat(opened.next(Person.class)).isEqualTo(sent.get(1));
            opened.next(Response.class);
            connection.close();
            script.close();
        }
    }

    /** Returns the objects that the captured consumer sent. */
    private static List<Object> sentPersons() {
        byte[] body = captured("bi-stream").body.toByteArray();
        PayloadCodec codec = REQUESTS.codecs.payloads().of(method(STREAMS, "biStream"));
        List<Object> persons = new ArrayList<>();
        for (int at = 0; at < body.length; ) {
            int length = ByteBuffer.wrap(body).getInt(at + 1);
            persons.add(codec.readRequest(body, at + 5, length)[0]);
            at += 5 + length;
        }
        return persons;
    }

    // Scripted answers

    private static final Map<String, Consumer<Object>> SCRIPTED = new LinkedHashMap<>();

    static {
        SCRIPTED.put("tri-plain", value("ok"));
        SCRIPTED.put("tri-h2", value("ok"));
        SCRIPTED.put("tri-notype", value("ok"));
        SCRIPTED.put("tri-gz", value("ok"));
        SCRIPTED.put("tri-goaway", value("ok"));
        SCRIPTED.put("tri-emptyok", value(null));
        SCRIPTED.put("tri-to", status(StatusCode.PERMISSION_DENIED, "a b+c%中"));
        SCRIPTED.put("tri-to-raw", status(StatusCode.NOT_FOUND, "plain 100% bad"));
        SCRIPTED.put("tri-to-nomsg", status(StatusCode.DEADLINE_EXCEEDED, ""));
        SCRIPTED.put("tri-unimpl", status(StatusCode.UNIMPLEMENTED, "nope"));
        SCRIPTED.put("tri-unavail", status(StatusCode.UNAVAILABLE, "busy"));
        SCRIPTED.put("tri-exhaust", status(StatusCode.RESOURCE_EXHAUSTED, "limit"));
        SCRIPTED.put("tri-det", TripleClientFixturesTest::hasDetails);
        SCRIPTED.put("tri-exc", thrown(new RuntimeException("boom")));
        SCRIPTED.put("tri-exc-trailer", status(StatusCode.INTERNAL, "cannot be read"));
        SCRIPTED.put("tri-emptymsg", status(StatusCode.INTERNAL, "cannot be read"));
        SCRIPTED.put("tri-http503", status(StatusCode.UNAVAILABLE, "HTTP status 503 and content type text/plain"));
        SCRIPTED.put("tri-rst-refused", TripleClientFixturesTest::isRefused);
    }

    private static void hasDetails(Object outcome) {
        status(StatusCode.INVALID_ARGUMENT, "st-msg").accept(outcome);
        assertThat(((RpcException) outcome).status().details())
                .singleElement()
                .satisfies(
                        detail -> assertThat(detail.typeUrl()).isEqualTo("type.googleapis.com/google.rpc.DebugInfo"));
    }

    private static void isRefused(Object outcome) {
        status(StatusCode.UNAVAILABLE, "HTTP/2 error 7").accept(outcome);
        assertThat(((RpcException) outcome).wasExecuted()).isEqualTo(Executed.NO);
    }

    @TestFactory
    Stream<DynamicTest> scriptedAnswerHasTheSameOutcome() {
        return SCRIPTED.keySet().stream().map(name -> dynamicTest(name, () -> scripted(name)));
    }

    private static void scripted(String name) {
        try (RawServer server = RawServer.start()) {
            ClientConnection connection = REQUESTS.connect(server.endpoint());
            PendingCall pending = Requests.send(connection, REQUESTS.call(method(GREET, "echo"), "x"));
            try (Http2Script script = Http2Script.accept(server)) {
                script.request();

                script.send(file("fake-server/" + name + ".reply.bin"));

                SCRIPTED.get(name).accept(outcome(pending));
                if (name.equals("tri-goaway")) {
                    // the client reconnects once it has noticed that the server closed the connection
                    try (Http2Script other = Http2Script.accept(server)) {
                        PendingCall next = Requests.send(connection, REQUESTS.call(method(GREET, "echo"), "y"));
                        other.answer(other.request().stream, wrapped("next"));
                        value("next").accept(outcome(next));
                    }
                    assertThat(script.isClosedByPeer()).isTrue();
                }
            }
            connection.close();
        }
    }

    private static byte[] wrapped(String value) {
        OutputBuffer out = new OutputBuffer();
        REQUESTS.codecs.payloads().of(method(GREET, "echo")).writeResponse(value, out);
        return out.toByteArray();
    }

    @Test
    void argumentThatCannotBeWrittenIsNotSent() {
        try (RawServer server = RawServer.start()) {
            ClientConnection connection = REQUESTS.connect(server.endpoint());

            Object outcome =
                    outcome(Requests.send(connection, REQUESTS.call(method(GREET, "types"), Optional.of("x"))));

            status(StatusCode.INVALID_ARGUMENT, "Optional").accept(outcome);
            assertThat(((RpcException) outcome).wasExecuted()).isEqualTo(Executed.NO);
            assertThat(((RpcException) outcome).getCause()).isInstanceOf(SerializationException.class);
            connection.close();
        }
    }
}
