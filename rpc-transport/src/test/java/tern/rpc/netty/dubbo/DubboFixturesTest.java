package tern.rpc.netty.dubbo;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.entry;

import com.alibaba.com.caucho.hessian.io.Hessian2Input;
import com.example.wire.BizException;
import com.example.wire.Color;
import com.example.wire.GreetService;
import com.example.wire.Person;
import com.example.wire.Point;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import tern.rpc.CallOptions;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.RpcException;
import tern.rpc.ServiceKey;
import tern.rpc.StatusCode;
import tern.rpc.client.MethodSettings;
import tern.rpc.client.RpcClient;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.netty.peer.CapturedValues;
import tern.rpc.netty.peer.RawFrame;
import tern.rpc.netty.peer.RawServer;
import tern.rpc.netty.peer.RawSocket;
import tern.rpc.transport.BuiltInMethods;
import tern.rpc.transport.GenericException;

/** Replays every captured file against Tern's client or server. */
@Timeout(120)
class DubboFixturesTest {

    /**
     * The request id in the answers of the scripted server. The test replaces it with the id of the current request.
     */
    private static final long SCRIPTED_ID = 0x0102030405060708L;

    private static final int OK = 20;
    private static final String SERVICE = "com.example.wire.GreetService";

    private static final Sides SIDES = new Sides();
    private static final ExecutorService CALLERS = Executors.newCachedThreadPool();

    private static int port;
    private static int genericPort;
    // the port of a server that waits at most two seconds for the rest of a refused message
    private static int impatientPort;

    @BeforeAll
    static void start() {
        port = SIDES.serve().port();
        genericPort = SIDES.serve(limits -> limits, settings -> settings.genericCalls(true))
                .port();
        impatientPort = SIDES.serve(limits -> limits.withFirstBytesTimeout(Duration.ofSeconds(2)), settings -> {})
                .port();
        SIDES.protocol().prepare(BuiltInMethods.DESCRIPTOR);
    }

    @AfterAll
    static void stop() {
        CALLERS.shutdownNow();
        SIDES.close();
    }

    @Test
    void everyCapturedFileIsTested() {
        TreeSet<String> served = new TreeSet<>(CALLS.keySet());
        served.addAll(SERVED_OTHERWISE.keySet());
        assertThat(served).isEqualTo(Fixtures.names("dubbo", ".request.bin"));

        TreeSet<String> answered = new TreeSet<>(Fixtures.names("dubbo", ".request.bin"));
        answered.remove("oneway"); // the server does not answer a one-way call
        assertThat(answered).isEqualTo(Fixtures.names("dubbo", ".response.bin"));
        assertThat(Fixtures.names("dubbo", ".s2c.bin")).containsExactly("readonly-event.on-shutdown");

        assertThat(PROBES.keySet()).isEqualTo(Fixtures.names("dubbo-probe", ".request.bin"));
        TreeSet<String> scripted = new TreeSet<>(Fixtures.names("fake-server", ".reply.bin"));
        scripted.removeIf(name -> name.startsWith("tri-")); // TripleClientFixturesTest uses the files for Triple.
        assertThat(new TreeSet<>(SCRIPTED.keySet())).isEqualTo(scripted);
    }

    // Captured calls

    /** A captured call: code that makes the same call with Tern's client, and the result that the caller must get. */
    private record Call(Caller caller, Object expected) {
        static Call of(Caller caller, Object expected) {
            return new Call(caller, expected);
        }
    }

    @FunctionalInterface
    private interface Caller {
        @Nullable
        Object call(GreetService service) throws Throwable;
    }

    private static final Map<String, Call> CALLS = new LinkedHashMap<>();

    /** Represents null in maps that do not permit it. */
    private static final Object NULL = "null";

    static {
        CALLS.put("echo", Call.of(service -> service.echo("hello"), "hello"));
        CALLS.put("pojo", Call.of(service -> service.pojo(CapturedValues.ann()), CapturedValues.ann()));
        CALLS.put("exception-checked", Call.of(service -> service.checked("x"), new BizException("biz:x", 42)));
        CALLS.put(
                "exception-unchecked",
                Call.of(service -> service.unchecked("x"), new IllegalArgumentException("bad:x")));
        CALLS.put("null", Call.of(GreetService::nul, NULL));
        CALLS.put("void", Call.of(DubboFixturesTest::nothing, NULL));
        CALLS.put("oneway", Call.of(DubboFixturesTest::fire, NULL));
        CALLS.put("overload-int", Call.of(service -> service.add(1, 2), 3));
        CALLS.put("overload-long", Call.of(service -> service.add(1L, 2L), 3L));
        CALLS.put("attachments", Call.of(DubboFixturesTest::withAttachments, "att"));
        CALLS.put("version-group", Call.of(service -> service.echo("vg"), "vg"));
        CALLS.put("record", Call.of(service -> service.record(new Point(3, 4)), new Point(3, 4)));
        CALLS.put("unicode", Call.of(service -> service.echo("hé中😀"), "hé中😀"));
        CALLS.put("bytes", Call.of(service -> service.bytes(new byte[] {0, 1, 2, 3}), new byte[] {0, 1, 2, 3}));
        CALLS.put("async", Call.of(service -> service.async("q").get(20, TimeUnit.SECONDS), "async:q"));
        CALLS.put(
                "map-list",
                Call.of(
                        service -> service.map(CapturedValues.map(), new ArrayList<>(List.of(new Person()))),
                        CapturedValues.map()));
        type("types-instant", Instant.ofEpochSecond(1_700_000_000L, 5));
        type("types-localdatetime", LocalDateTime.of(2024, 1, 2, 3, 4, 5));
        type("types-zdt", LocalDateTime.of(2024, 1, 2, 3, 4, 5).atZone(ZoneId.of("UTC")));
        type("types-bigdecimal", new BigDecimal("123.4500"));
        type("types-uuid", UUID.fromString("123e4567-e89b-12d3-a456-426614174000"));
        type("types-enum", Color.RED);
        CALLS.put("bigstring", Call.of(service -> service.echo("x".repeat(40_000)), "x".repeat(40_000)));
        CALLS.put("timeout", Call.of(service -> service.slow(5_500), "slow"));
        CALLS.put("notfound-service", Call.of(service -> service.echo("x"), StatusCode.INVALID_ARGUMENT));
        CALLS.put("heartbeat", Call.of(service -> service.echo("hb"), "hb"));
    }

    private static void type(String name, Object value) {
        CALLS.put(name, Call.of(service -> service.types(value), value));
    }

    private static Object nothing(GreetService service) {
        service.nothing("x");
        return NULL;
    }

    private static Object fire(GreetService service) {
        service.oneway("fire");
        return NULL;
    }

    private static @Nullable Object withAttachments(GreetService service) {
        AtomicReference<Metadata> seen = new AtomicReference<>();
        String answer = CallOptions.none()
                .header("trace-id", "abc-123")
                .header("CamelKey", "CamelVal")
                .header("bytes", new byte[] {1, 2, -1})
                // in the captured request, "num" is a number, but Tern can send only strings or bytes
                .header("num", "7")
                .onResponseHeaders(seen::set)
                .on(service)
                .echo("att");
        assertThat(seen.get().get("resp-key")).isEqualTo("resp-val");
        assertThat(seen.get().get("RespCamel")).isEqualTo("v2");
        assertThat(seen.get().getBytes("resp-bytes")).containsExactly(1, 2, -1);
        assertThat(seen.get().names()).containsExactlyInAnyOrder("resp-key", "RespCamel", "resp-bytes");
        return answer;
    }

    /**
     * Checks the answer of Tern's server to a captured request. Used when Tern's answer can differ from the captured
     * answer.
     */
    @FunctionalInterface
    private interface Judge {
        void judge(RawFrame answer) throws Exception;
    }

    /** For each captured request that Tern's client never sends, a check of the answer from Tern's server. */
    private static final Map<String, Judge> SERVED_OTHERWISE = Map.of(
            "echo-service", answer -> assertThat(answer).isEqualTo(Fixtures.frame("dubbo/echo-service.response.bin")),
            "generic", answer -> assertThat(answer).isEqualTo(Fixtures.frame("dubbo/generic.response.bin")),
            "generic-pojo", DubboFixturesTest::isPersonAsMap,
            "generic-exception", DubboFixturesTest::isGenericException,
            "generic-nomethod", answer -> isRefused(answer, DubboStatus.SERVICE_NOT_FOUND, "nope"));

    /**
     * The captured calls whose answer from Tern intentionally differs from Dubbo's answer. Each call has a check of
     * Tern's answer.
     */
    private static final Map<String, Judge> ANSWERED_OTHERWISE = Map.of(
            // Tern's answer has an empty stack trace.
            "exception-checked",
            answer ->
                    assertThat(failure(answer)).isInstanceOf(BizException.class).hasMessage("biz:x"),
            "exception-unchecked",
            answer -> assertThat(failure(answer))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("bad:x"),
            // Tern's answer contains the attachments in a different order.
            "attachments",
            DubboFixturesTest::hasAttachments,
            // Tern answers when the deadline passes. Dubbo answers later, with the result.
            "timeout",
            answer -> isRefused(answer, DubboStatus.SERVER_TIMEOUT, "DEADLINE_EXCEEDED"),
            // Dubbo answers with status BAD_REQUEST.
            "notfound-service",
            answer -> isRefused(answer, DubboStatus.SERVICE_NOT_FOUND, SERVICE + ":9.9.9", "g1/" + SERVICE + ":1.2.3"));

    @TestFactory
    Stream<DynamicTest> capturedRequestIsAnsweredAsCaptured() {
        return Fixtures.names("dubbo", ".request.bin").stream()
                .map(name -> DynamicTest.dynamicTest(name, () -> requestIsAnswered(name)));
    }

    private static void requestIsAnswered(String name) throws Exception {
        List<RawFrame> requests = Fixtures.frames("dubbo/" + name + ".request.bin");
        boolean generic = name.startsWith("generic");
        try (RawSocket socket = RawSocket.connect(generic ? genericPort : port)) {
            socket.send(Fixtures.bytes("dubbo/" + name + ".request.bin"));
            if (name.equals("oneway")) {
                assertThat(SIDES.service.told.poll(20, TimeUnit.SECONDS)).isEqualTo("fire");
                assertStaysSilent(socket);
                return;
            }
            List<RawFrame> answers =
                    requests.stream().map(request -> socket.read()).toList();
            Judge judge = SERVED_OTHERWISE.getOrDefault(name, ANSWERED_OTHERWISE.get(name));
            if (judge != null) {
                assertThat(answers.get(0).id()).isEqualTo(requests.get(0).id());
                judge.judge(answers.get(0));
            } else {
                assertThat(answers)
                        .containsExactlyInAnyOrderElementsOf(Fixtures.frames("dubbo/" + name + ".response.bin"));
            }
        }
    }

    /** Checks that the server sends no other frame before the answer to a heartbeat. */
    private static void assertStaysSilent(RawSocket socket) {
        socket.send(RawFrame.heartbeat(4711));
        assertThat(socket.read()).isEqualTo(RawFrame.heartbeatAnswer(4711));
    }

    private static Throwable failure(RawFrame answer) throws IOException {
        assertThat(answer.status()).isEqualTo(OK);
        Hessian2Input values = answer.values();
        assertThat(values.readInt()).isEqualTo(3);
        Throwable failure = (Throwable) values.readObject();
        assertThat(values.readObject()).isEqualTo(Map.of("dubbo", "2.0.2"));
        if (failure instanceof BizException biz) {
            assertThat(biz.getCode()).isEqualTo(42);
        }
        return failure;
    }

    private static void hasAttachments(RawFrame answer) throws IOException {
        Hessian2Input values = answer.values();
        assertThat(values.readInt()).isEqualTo(4);
        assertThat(values.readObject()).isEqualTo("att");
        Map<?, ?> attachments = (Map<?, ?>) values.readObject();
        assertThat(attachments.get("resp-key")).isEqualTo("resp-val");
        assertThat(attachments.get("RespCamel")).isEqualTo("v2");
        assertThat((byte[]) attachments.get("resp-bytes")).containsExactly(1, 2, -1);
        assertThat(attachments.get("dubbo")).isEqualTo("2.0.2");
        assertThat(attachments).hasSize(4);
    }

    private static void isPersonAsMap(RawFrame answer) throws IOException {
        Hessian2Input values = answer.values();
        assertThat(values.readInt()).isEqualTo(4);
        Hessian2Input captured =
                Fixtures.frame("dubbo/generic-pojo.response.bin").values();
        captured.readInt();
        assertThat(values.readObject()).isEqualTo(captured.readObject());
    }

    private static void isGenericException(RawFrame answer) throws IOException {
        Hessian2Input values = answer.values();
        assertThat(values.readInt()).isEqualTo(3);
        com.alibaba.dubbo.rpc.service.GenericException failure =
                (com.alibaba.dubbo.rpc.service.GenericException) values.readObject();
        assertThat(failure.getExceptionClass()).isEqualTo("com.example.wire.BizException");
        assertThat(failure.getExceptionMessage()).isEqualTo("biz:gx");
    }

    private static void isRefused(RawFrame answer, int status, String... texts) {
        assertThat(answer.flags()).isEqualTo(RawFrame.RESPONSE);
        assertThat(answer.status()).as(answer.text()).isEqualTo(status);
        assertThat(answer.text()).contains(texts).doesNotContain("\tat ");
    }

    @TestFactory
    Stream<DynamicTest> genericCallIsRefusedWhenSwitchedOff() {
        return Stream.of("generic", "generic-pojo", "generic-exception", "generic-nomethod")
                .map(name -> DynamicTest.dynamicTest(name, () -> {
                    try (RawSocket socket = RawSocket.connect(port)) {
                        socket.send(Fixtures.bytes("dubbo/" + name + ".request.bin"));

                        isRefused(socket.read(), DubboStatus.SERVICE_NOT_FOUND, "rpc.server.generic-calls");
                    }
                }));
    }

    @TestFactory
    Stream<DynamicTest> ourRequestEqualsTheCapturedOne() {
        return CALLS.keySet().stream().map(name -> DynamicTest.dynamicTest(name, () -> exchange(name)));
    }

    /** Makes the call with Tern's client against a server that replays the captured answer. */
    private static void exchange(String name) throws Exception {
        RawFrame captured = Fixtures.frame("dubbo/" + name + ".request.bin");
        try (RawServer server = RawServer.start();
                RpcClient client = SIDES.client(limits -> limits)) {
            GreetService service = Sides.refer(
                    client,
                    reference -> {
                        if (name.equals("version-group")) {
                            reference.group("g1").version("1.2.3");
                        } else if (name.equals("notfound-service")) {
                            reference.version("9.9.9");
                        }
                        reference.method("oneway", new MethodSettings(null, null, true));
                    },
                    server.endpoint());
            Future<Object> result = CALLERS.submit(() -> outcome(CALLS.get(name).caller(), service));

            RawSocket socket = server.next();
            RawFrame request = socket.read();
            if (!name.equals("oneway")) {
                RawFrame answer = Fixtures.frame("dubbo/" + name + ".response.bin");
                socket.send(answer.withId(request.id()));
            }

            assertSameRequest(request, captured);
            assertOutcome(result.get(20, TimeUnit.SECONDS), CALLS.get(name).expected());
        }
    }

    private static Object outcome(Caller caller, GreetService service) {
        try {
            Object value = caller.call(service);
            return value == null ? NULL : value;
        } catch (Throwable e) {
            return e;
        }
    }

    private static void assertOutcome(Object outcome, Object expected) {
        if (expected instanceof Throwable failure) {
            assertThat((Throwable) outcome).hasSameClassAs(failure).hasMessage(failure.getMessage());
            assertThat(((Throwable) outcome).getStackTrace()).hasSizeBetween(1, 64);
            if (outcome instanceof BizException biz) {
                assertThat(biz.getCode()).isEqualTo(42);
            }
        } else if (expected instanceof StatusCode code) {
            assertThat(((RpcException) outcome).code()).isEqualTo(code);
        } else {
            assertThat(outcome).isEqualTo(expected);
        }
    }

    /**
     * Compares the requests. Ignores the id, the order of the attachments, and the timeout, which differs because Tern
     * sends the remaining time.
     */
    private static void assertSameRequest(RawFrame request, RawFrame captured) throws IOException {
        assertThat(request.flags()).isEqualTo(captured.flags());
        assertThat(request.status()).isZero();
        int attachments = attachments(captured.body());
        assertThat(hex(request.body(), attachments)).isEqualTo(hex(captured.body(), attachments));
        Map<Object, Object> ours = map(request.body(), attachments);
        Map<Object, Object> theirs = map(captured.body(), attachments);
        assertThat(Long.parseLong((String) ours.remove("timeout"))).isBetween(1L, 20_000L);
        theirs.remove("timeout");
        byte[] ourBytes = (byte[]) ours.remove("bytes");
        assertThat(ourBytes).isEqualTo(theirs.remove("bytes"));
        theirs.computeIfPresent("num", (key, number) -> number.toString());
        assertThat(ours).containsExactlyInAnyOrderEntriesOf(theirs);
    }

    private static String hex(byte[] body, int length) {
        return HexFormat.of().formatHex(body, 0, Math.min(length, body.length));
    }

    /** Returns the offset of the attachments, which are a map at the end of the body. */
    private static int attachments(byte[] body) {
        for (int i = 0; i < body.length; i++) {
            if (body[i] == 'H' && i + 5 < body.length && new String(body, i + 1, 5, US_ASCII).equals("\4path")) {
                return i;
            }
        }
        throw new AssertionError("no attachments");
    }

    @SuppressWarnings("unchecked")
    private static Map<Object, Object> map(byte[] body, int offset) throws IOException {
        Hessian2Input values = new Hessian2Input(new ByteArrayInputStream(body, offset, body.length - offset));
        return new HashMap<>((Map<Object, Object>) values.readObject());
    }

    @Test
    void capturedAnswerToAGenericCallIsRead() throws Throwable {
        assertThat(decode("generic", "$invoke")).isEqualTo("gen");
        assertThat(decode("generic-pojo", "$invoke"))
                .asInstanceOf(InstanceOfAssertFactories.MAP)
                .contains(entry("class", "com.example.wire.Person"), entry("name", "G"), entry("age", 3));
        assertThat(decode("echo-service", "$echo")).isEqualTo("OK");
        assertThat(catchThrowable(() -> decode("generic-nomethod", "$invoke")))
                .isInstanceOf(RpcException.class)
                .hasMessageContaining("No such method nope");
        Throwable failure = catchThrowable(() -> decode("generic-exception", "$invoke"));
        assertThat(failure).isInstanceOf(GenericException.class);
        assertThat(((GenericException) failure).exceptionClass()).isEqualTo("com.example.wire.BizException");
        assertThat(((GenericException) failure).exceptionMessage()).isEqualTo("biz:gx");
    }

    private static @Nullable Object decode(String name, String method) throws Throwable {
        RawFrame answer = Fixtures.frame("dubbo/" + name + ".response.bin");
        Invocation call = new Invocation(
                new ServiceKey(SERVICE, "", ""),
                BuiltInMethods.DESCRIPTOR.overloads(method).get(0),
                new Object[0],
                new Metadata(),
                Deadline.none(),
                Runnable::run);
        return new DubboAnswer(
                        SIDES.protocol(),
                        new Endpoint("captured", 1),
                        answer.flags(),
                        answer.status(),
                        Unpooled.wrappedBuffer(answer.body()))
                .decode(call)
                .value();
    }

    @Test
    void heartbeatsOfTheCapturedAnswerAreTakenSilently() throws Exception {
        try (RawServer server = RawServer.start();
                RpcClient client = SIDES.client(limits -> limits)) {
            GreetService service = Sides.refer(client, reference -> {}, server.endpoint());
            Future<String> first = CALLERS.submit(() -> service.echo("hb"));
            RawSocket socket = server.next();
            List<RawFrame> answers = Fixtures.frames("dubbo/heartbeat.response.bin");
            RawFrame request = socket.read();

            socket.send(answers.get(1)).send(answers.get(2)).send(answers.get(0).withId(request.id()));

            assertThat(first.get(20, TimeUnit.SECONDS)).isEqualTo("hb");
        }
    }

    @Test
    void capturedShutdownEventMovesCallsToANewConnection() throws Exception {
        try (RawServer server = RawServer.start();
                RpcClient client = SIDES.client(limits -> limits)) {
            GreetService service = Sides.refer(client, reference -> {}, server.endpoint());
            Future<String> first = CALLERS.submit(() -> service.echo("hello"));
            RawSocket socket = server.next();
            List<RawFrame> sent = Fixtures.frames("dubbo/readonly-event.on-shutdown.s2c.bin");
            RawFrame request = socket.read();

            socket.send(sent.get(1));
            socket.send(sent.get(0).withId(request.id()));

            assertThat(first.get(20, TimeUnit.SECONDS)).isEqualTo("hello");
            assertThat(socket.isClosedByPeer()).isTrue();
            Future<String> second = CALLERS.submit(() -> service.echo("hello"));
            RawSocket fresh = server.next().greet();
            fresh.send(sent.get(0).withId(fresh.read().id()));
            assertThat(second.get(20, TimeUnit.SECONDS)).isEqualTo("hello");
        }
    }

    // Hand-written requests

    /** Checks how the server reacts to a hand-written request. */
    @FunctionalInterface
    private interface Probe {
        void judge(String name, RawSocket socket) throws Exception;
    }

    private static final Map<String, Probe> PROBES = new TreeMap<>();

    static {
        for (String same : List.of(
                "ok",
                "ver-2.0.0",
                "ver-2.0.1",
                "ver-2.0.99",
                "ver-2.0.100",
                "ver-2.6.2",
                "ver-2.7.0",
                "ver-3.0.0",
                "ver-3.3.6",
                "ver-empty",
                "hb-N",
                "no-version-att",
                "nullversion",
                "attach-null",
                "string-S",
                "chunked-string",
                "pipelined")) {
            PROBES.put(same, DubboFixturesTest::isAnsweredAsByDubbo);
        }
        for (String silent : List.of("hb-oneway-N", "event-R", "event-X", "oneway")) {
            PROBES.put(silent, (name, socket) -> assertStaysSilent(socket));
        }
        for (String heartbeat : List.of("hb-empty", "hb-fastjson2", "hb-unknownser")) {
            PROBES.put(
                    heartbeat,
                    (name, socket) -> assertThat(socket.read())
                            .isEqualTo(RawFrame.heartbeatAnswer(probe(name).id())));
        }
        PROBES.put("event-long", refused(DubboStatus.BAD_REQUEST, "an event has"));
        PROBES.put("bad-body", refused(DubboStatus.BAD_REQUEST, "cannot be read"));
        PROBES.put("trunc-noattach", refused(DubboStatus.BAD_REQUEST, "cannot be read"));
        PROBES.put("ser-3", refused(DubboStatus.BAD_REQUEST, "serialization 3", "hessian2"));
        PROBES.put("ser-21", refused(DubboStatus.BAD_REQUEST, "serialization 21"));
        PROBES.put("ser-30", refused(DubboStatus.BAD_REQUEST, "serialization 30"));
        PROBES.put("overpayload", (name, socket) -> {
            RawFrame answer = socket.read();
            assertThat(answer.id()).isEqualTo(id(Fixtures.bytes("dubbo-probe/overpayload.request.bin")));
            isRefused(answer, DubboStatus.BAD_REQUEST, "8388608");
            assertThat(socket.isClosedByPeer()).isTrue();
        });
        for (String service : List.of("noservice-zeroarg", "noservice-arg")) {
            PROBES.put(service, refused(DubboStatus.SERVICE_NOT_FOUND, "exported services:", SERVICE));
        }
        for (String method : List.of("nomethod", "nomethod-noarg")) {
            PROBES.put(method, refused(DubboStatus.SERVICE_NOT_FOUND, "has no method zzz"));
        }
        PROBES.put("desc-empty", refused(DubboStatus.BAD_REQUEST, "echo takes 1 argument, not 0"));
        PROBES.put(
                "dubbo-on-tri",
                (name, socket) -> assertThat(socket.read().status()).isEqualTo(OK));
        for (String closed : List.of(
                "neglen",
                "telnet-ls",
                "telnet-status",
                "http-on-dubbo",
                "telnet-on-tri",
                "telnet-on-tri-long",
                "garbage-then-magic")) {
            PROBES.put(
                    closed,
                    (name, socket) -> assertThat(socket.isClosedByPeer()).isTrue());
        }
    }

    private static RawFrame probe(String name) {
        return Fixtures.frame("dubbo-probe/" + name + ".request.bin");
    }

    private static long id(byte[] header) {
        return ByteBuffer.wrap(header).getLong(4);
    }

    private static Probe refused(int status, String... texts) {
        return (name, socket) -> {
            RawFrame answer = socket.read();
            assertThat(answer.id()).isEqualTo(probe(name).id());
            isRefused(answer, status, texts);
            assertStaysSilent(socket);
        };
    }

    private static void isAnsweredAsByDubbo(String name, RawSocket socket) {
        List<RawFrame> expected = Fixtures.frames("dubbo-probe/" + name + ".response.bin");
        List<RawFrame> answers = expected.stream().map(answer -> socket.read()).toList();
        assertThat(answers).containsExactlyInAnyOrderElementsOf(expected);
    }

    @TestFactory
    Stream<DynamicTest> probeSentByteByByteIsAnsweredAsDecided() {
        return PROBES.keySet().stream()
                .map(name -> DynamicTest.dynamicTest(name, () -> {
                    try (RawSocket socket = RawSocket.connect(name.equals("overpayload") ? impatientPort : port)) {
                        socket.sendByteByByte(Fixtures.bytes("dubbo-probe/" + name + ".request.bin"));

                        PROBES.get(name).judge(name, socket);
                    }
                }));
    }

    // Scripted answers

    /** The expected results by script name; null for a script that closes the connection. */
    private static final Map<String, Object> SCRIPTED = new LinkedHashMap<>();

    static {
        SCRIPTED.put("dubbo-v1", "ok");
        SCRIPTED.put("dubbo-v2", NULL);
        SCRIPTED.put("dubbo-v4", "ok");
        SCRIPTED.put("dubbo-v4-nullattr", "ok");
        SCRIPTED.put("dubbo-hbreq", "ok");
        SCRIPTED.put("dubbo-readonly", "ok");
        SCRIPTED.put("dubbo-v0", new RuntimeException("boom"));
        SCRIPTED.put("dubbo-v4-noattr", StatusCode.INTERNAL);
        SCRIPTED.put("dubbo-badtype", StatusCode.INTERNAL);
        SCRIPTED.put("dubbo-ser23", StatusCode.INTERNAL);
        SCRIPTED.put("dubbo-unkexc", StatusCode.UNKNOWN);
        SCRIPTED.put("dubbo-evbit", StatusCode.UNAVAILABLE);
        SCRIPTED.put("dubbo-st25", StatusCode.INTERNAL);
        SCRIPTED.put("dubbo-st30", StatusCode.DEADLINE_EXCEEDED);
        SCRIPTED.put("dubbo-st31", StatusCode.DEADLINE_EXCEEDED);
        SCRIPTED.put("dubbo-st40", StatusCode.INVALID_ARGUMENT);
        SCRIPTED.put("dubbo-st50", StatusCode.INTERNAL);
        SCRIPTED.put("dubbo-st60", StatusCode.UNIMPLEMENTED);
        SCRIPTED.put("dubbo-st70", StatusCode.UNKNOWN);
        SCRIPTED.put("dubbo-st80", StatusCode.INTERNAL);
        SCRIPTED.put("dubbo-st90", StatusCode.UNKNOWN);
        SCRIPTED.put("dubbo-st99", StatusCode.UNKNOWN);
        SCRIPTED.put("dubbo-st100", StatusCode.RESOURCE_EXHAUSTED);
    }

    @TestFactory
    Stream<DynamicTest> scriptedAnswerHasTheSameOutcome() {
        return SCRIPTED.keySet().stream().map(name -> DynamicTest.dynamicTest(name, () -> scripted(name)));
    }

    private static void scripted(String name) throws Exception {
        try (RawServer server = RawServer.start();
                RpcClient client = SIDES.client(limits -> limits)) {
            GreetService service = Sides.refer(client, reference -> {}, server.endpoint());
            Future<Object> result = CALLERS.submit(() -> outcome(proxy -> proxy.echo("x"), service));
            RawSocket socket = server.next();
            long id = socket.read().id();

            Fixtures.frames("fake-server/" + name + ".reply.bin")
                    .forEach(frame -> socket.send(frame.id() == SCRIPTED_ID ? frame.withId(id) : frame));

            Object outcome = result.get(20, TimeUnit.SECONDS);
            Object expected = SCRIPTED.get(name);
            if (expected instanceof RuntimeException failure) {
                assertThat((Throwable) outcome).hasSameClassAs(failure).hasMessage(failure.getMessage());
            } else {
                assertOutcome(outcome, expected);
            }
            switch (name) {
                case "dubbo-hbreq" -> assertThat(socket.read()).isEqualTo(RawFrame.heartbeatAnswer(0x77));
                case "dubbo-unkexc" ->
                    assertThat((Throwable) outcome)
                            .hasMessageContaining("com.nope.BizExcp")
                            .hasMessageContaining("boom");
                case "dubbo-evbit", "dubbo-readonly" ->
                    assertThat(socket.isClosedByPeer()).isTrue();
                default -> assertThat(outcome).isNotNull();
            }
        }
    }
}
