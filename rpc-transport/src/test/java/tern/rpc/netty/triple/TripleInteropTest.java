package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.example.wire.GreetServer;
import com.example.wire.GreetService;
import com.example.wire.PbServer;
import com.example.wire.PbService;
import com.example.wire.Person;
import com.example.wire.StreamServer;
import com.example.wire.StreamService;
import com.google.protobuf.StringValue;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.dubbo.common.stream.StreamObserver;
import org.apache.dubbo.rpc.StatusRpcException;
import org.apache.dubbo.rpc.TriRpcStatus;
import org.apache.dubbo.rpc.protocol.tri.CancelableStreamObserver;
import org.apache.dubbo.rpc.protocol.tri.ClientStreamObserver;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tern.rpc.CallOptions;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.WireName;
import tern.rpc.netty.ClientProtocol;
import tern.rpc.netty.ServerProtocol;
import tern.rpc.netty.peer.DubboInteropContract;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.rpc.transport.GenericException;
import tern.rpc.transport.Items;
import tern.rpc.transport.RemoteFailures;

/** Tests calls between Tern and a real Apache Dubbo instance over Triple. */
class TripleInteropTest extends DubboInteropContract {

    /** The streaming service of the captured calls, under the name that Dubbo uses in this test. */
    @WireName("tern.rpc.netty.triple.DubboStreamService")
    private interface Streams extends StreamService {}

    /**
     * The number of messages in a stream. All messages together exceed the flow-control windows of the stream and the
     * connection.
     */
    private static final int MANY = 100;

    private final TripleCodecs codecs = new TripleCodecs(
            HessianSerializer.builder()
                    .alias(GenericException.class, GenericException.WIRE_NAME)
                    .build(),
            null,
            0);

    private final ShapesServer ourShapes = new ShapesServer();
    private final DubboShapesServer dubboShapes = new DubboShapesServer();

    TripleInteropTest() {
        super("tri");
    }

    @Override
    protected List<ServerProtocol> serverProtocols() {
        return List.of(new TripleProtocol(codecs));
    }

    @Override
    protected ClientProtocol clientProtocol() {
        return new TripleClientProtocol(codecs);
    }

    @Override
    protected void export(RpcServer.Builder settings) {
        super.export(settings);
        settings.export(ServiceExport.of(StreamService.class, new StreamServer()))
                .export(ServiceExport.of(PbService.class, new PbServer()))
                .export(ServiceExport.of(Shapes.class, ourShapes));
    }

    @BeforeAll
    void provide() {
        dubbo.provide(DubboStreamService.class, new DubboStreamServer(), service -> {});
        dubbo.provide(DubboShapes.class, dubboShapes, service -> {});
        dubbo.provide(PbService.class, new DubboPbServer(), service -> {});
    }

    /** A provider whose method fails in the same way as a method in a Dubbo application. */
    private static final class DubboPbServer implements PbService {
        @Override
        public StringValue hello(StringValue v) {
            return StringValue.of("hi " + v.getValue());
        }

        @Override
        public StringValue fail(StringValue v) {
            throw new org.apache.dubbo.rpc.RpcException(
                    org.apache.dubbo.rpc.RpcException.FORBIDDEN_EXCEPTION, "no \u00e9%\nentry");
        }
    }

    private <T> T ours(Class<T> type) {
        return refer(type, client, to -> {}, dubbo.endpoint());
    }

    private DubboStreamService theirStreams() {
        return dubbo.refer(
                DubboStreamService.class, dubbo.url(port) + "/" + StreamService.class.getName(), reference -> {});
    }

    private DubboShapes theirShapes() {
        return dubbo.refer(DubboShapes.class, dubbo.url(port), reference -> {});
    }

    /** Returns the status that Dubbo's consumer received, which can be at any depth in the chain of causes. */
    private static TriRpcStatus status(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof StatusRpcException known) {
                return known.getStatus();
            }
        }
        throw new AssertionError("no status in it", failure);
    }

    /**
     * Returns false on JDK 25. On JDK 25, Dubbo 3.3.6 needs a JSON library for Triple's headers, but does not declare a
     * dependency on such a library.
     */
    @Override
    protected boolean peerCarriesAttachments() {
        return Runtime.version().feature() < 25;
    }

    /**
     * Returns whether the failure is a timeout. Tern's status might arrive before Dubbo's own timer expires. In this
     * case, Dubbo reports Tern's status as a cause.
     */
    @Override
    protected boolean saysTimeout(org.apache.dubbo.rpc.RpcException failure) {
        return failure.isTimeout() || status(failure).code == TriRpcStatus.Code.DEADLINE_EXCEEDED;
    }

    // ---- protobuf tests

    @Test
    void protobufMessagesAreSentUnchanged() {
        PbService theirs = dubbo.refer(PbService.class, dubbo.url(port), reference -> {});

        assertThat(theirs.hello(StringValue.of("pb")).getValue()).isEqualTo("hi pb");
        assertThat(ours(PbService.class).hello(StringValue.of("pb")).getValue()).isEqualTo("hi pb");
    }

    @Test
    void failureOfAProtobufMethodIsAStatus() {
        PbService theirs = dubbo.refer(PbService.class, dubbo.url(port), reference -> {});

        Throwable told = catchThrowable(() -> theirs.fail(StringValue.of("x")));
        RpcException ours = catchThrowableOfType(
                RpcException.class, () -> ours(PbService.class).fail(StringValue.of("x")));

        assertThat(status(told).code).isEqualTo(TriRpcStatus.Code.PERMISSION_DENIED);
        assertThat(status(told).description).isEqualTo("no \u00e9%\nentry");
        assertThat(ours.code()).isEqualTo(StatusCode.PERMISSION_DENIED);
        assertThat(ours.status().description()).isEqualTo("no \u00e9%\nentry");
    }

    // ---- stream tests

    @Test
    void serverStreamIsDeliveredInOrder() throws Exception {
        StreamRecorder<String> theirs = new StreamRecorder<>();
        theirStreams().serverStream("s", theirs);
        StreamRecorder<String> ours = new StreamRecorder<>();
        ours(Streams.class).serverStream("s", ours);

        assertThat(theirs.all()).containsExactly("s0", "s1", "s2");
        assertThat(ours.all()).containsExactly("s0", "s1", "s2");
    }

    @Test
    void failureOfAStreamFollowsItsMessages() throws Exception {
        StreamRecorder<String> theirs = new StreamRecorder<>();
        theirStreams().serverStreamFail("s", theirs);
        StreamRecorder<String> ours = new StreamRecorder<>();
        ours(Streams.class).serverStreamFail("s", ours);

        assertThat(theirs.next()).isEqualTo("s");
        TriRpcStatus status = status(theirs.failure());
        assertThat(status.code).isEqualTo(TriRpcStatus.Code.UNKNOWN);
        assertThat(status.description).isEqualTo("strm \u00e9 fail");
        assertThat(ours.next()).isEqualTo("s");
        RpcException failure = (RpcException) ours.failure();
        assertThat(failure.code()).isEqualTo(StatusCode.UNKNOWN);
        assertThat(failure.status().description()).isEqualTo("strm \u00e9 fail");
    }

    @Test
    void bothSidesOfAStreamTakeTurns() throws Exception {
        StreamRecorder<Person> theirs = new StreamRecorder<>();
        StreamObserver<Person> byDubbo = theirStreams().biStream(theirs);
        StreamRecorder<Person> ours = new StreamRecorder<>();
        tern.rpc.StreamObserver<Person> byUs = ours(Streams.class).biStream(ours);

        for (int age = 1; age <= 3; age++) {
            byDubbo.onNext(Person.named("Ann", age));
            assertThat(theirs.next()).isEqualTo(Person.named("Ann", age));
            byUs.onNext(Person.named("Bob", age));
            assertThat(ours.next()).isEqualTo(Person.named("Bob", age));
        }
        byDubbo.onCompleted();
        byUs.onCompleted();

        assertThat(theirs.all()).isEmpty();
        assertThat(ours.all()).isEmpty();
    }

    @Test
    void streamOfRequestsHasOneAnswer() throws Exception {
        StreamRecorder<Integer> theirs = new StreamRecorder<>();
        StreamObserver<Integer> numbers = theirShapes().sum(theirs);
        List.of(1, 2, 39).forEach(numbers::onNext);
        numbers.onCompleted();

        assertThat(theirs.all()).containsExactly(42);
        assertThat(ours(Shapes.class)
                        .sum(Items.of(1, 2, 39))
                        .toCompletableFuture()
                        .get(20, TimeUnit.SECONDS))
                .isEqualTo(42);
    }

    @Test
    void publisherHereIsAnObserverThere() throws Exception {
        StreamRecorder<Integer> theirs = new StreamRecorder<>();
        theirShapes().count(3, theirs);
        StreamRecorder<Integer> ours = new StreamRecorder<>();
        ours(Shapes.class).count(3).subscribe(ours);

        assertThat(theirs.all()).containsExactly(1, 2, 3);
        assertThat(ours.all()).containsExactly(1, 2, 3);
    }

    @Test
    void streamOfProtobufMessagesArrives() throws Exception {
        StreamRecorder<StringValue> theirs = new StreamRecorder<>();
        theirShapes().say(StringValue.of("Word"), theirs);
        StreamRecorder<StringValue> ours = new StreamRecorder<>();
        ours(Shapes.class).say(StringValue.of("Word"), ours);

        assertThat(theirs.all()).extracting(StringValue::getValue).containsExactly("WORD", "word");
        assertThat(ours.all()).extracting(StringValue::getValue).containsExactly("WORD", "word");
    }

    @Test
    void streamOfManyMegabytesArrivesWhole() throws Exception {
        StreamRecorder<byte[]> theirs = new StreamRecorder<>();
        theirShapes().download(MANY, theirs);
        StreamRecorder<byte[]> ours = new StreamRecorder<>();
        ours(Shapes.class).download(MANY, ours);

        assertThat(theirs.all()).hasSize(MANY).allMatch(message -> message.length == ShapesServer.LARGE);
        assertThat(ours.all()).hasSize(MANY).allMatch(message -> message.length == ShapesServer.LARGE);
    }

    @Test
    void requestsOfManyMegabytesArriveWhole() throws Exception {
        StreamRecorder<Integer> theirs = new StreamRecorder<>();
        StreamObserver<byte[]> byDubbo = theirShapes().upload(theirs);
        StreamRecorder<Integer> ours = new StreamRecorder<>();
        tern.rpc.StreamObserver<byte[]> byUs = ours(Shapes.class).upload(ours);

        for (int i = 0; i < MANY; i++) {
            byDubbo.onNext(new byte[ShapesServer.LARGE]);
            byUs.onNext(new byte[ShapesServer.LARGE]);
        }
        byDubbo.onCompleted();
        byUs.onCompleted();

        assertThat(theirs.all()).containsExactly(MANY * ShapesServer.LARGE);
        assertThat(ours.all()).containsExactly(MANY * ShapesServer.LARGE);
    }

    @Test
    void cancellationByDubboReachesTheMethod() throws Exception {
        BlockingQueue<Object> told = new LinkedBlockingQueue<>();
        CancelableStreamObserver<String> theirs = new CancelableStreamObserver<>() {
            @Override
            public void onNext(String text) {
                told.add(text);
            }

            @Override
            public void onError(Throwable failure) {
                told.add(failure);
            }

            @Override
            public void onCompleted() {
                told.add("completed");
            }
        };
        theirShapes().endless("x", theirs);
        assertThat(told.poll(20, TimeUnit.SECONDS)).isEqualTo("x");

        theirs.cancel(new IllegalStateException("enough"));

        assertThat(ourShapes.cancelled.poll(20, TimeUnit.SECONDS)).isEqualTo("x");
    }

    @Test
    void ourCancellationReachesTheMethodOfDubbo() throws Exception {
        StreamRecorder<String> ours = new StreamRecorder<>();
        ours(Shapes.class).endless("cancelled").subscribe(ours);
        assertThat(ours.next()).isEqualTo("cancelled");

        ours.cancel();

        assertThat(dubboShapes.cancelled.poll(20, TimeUnit.SECONDS)).isEqualTo("cancelled");
    }

    @Test
    void ourDeadlineReachesTheMethodOfDubbo() throws Exception {
        StreamRecorder<String> ours = new StreamRecorder<>();
        Shapes limited = CallOptions.none().timeout(Duration.ofSeconds(3)).on(ours(Shapes.class));
        limited.endless("late").subscribe(ours);

        assertThat(ours.next()).isEqualTo("late");
        assertThat(((RpcException) ours.failure()).code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
        assertThat(dubboShapes.cancelled.poll(20, TimeUnit.SECONDS)).isEqualTo("late");
    }

    // ---- unary tests

    @ParameterizedTest
    @EnumSource
    void answerOfManyMegabytesArrivesWhole(Direction direction) {
        byte[] large = new byte[7 << 20];
        large[large.length - 1] = 7;

        assertThat(service(direction).bytes(large)).isEqualTo(large);
    }

    @Test
    void refusalByAMethodIsAStatusOfDubbo() {
        Throwable told = catchThrowable(() -> dubboToUs.unchecked("tern"));

        assertThat(status(told).code).isEqualTo(TriRpcStatus.Code.PERMISSION_DENIED);
        assertThat(status(told).description).isEqualTo("not for you");
    }

    // ---- missing methods

    /**
     * If a version is unknown, Tern refuses the call. Dubbo's provider falls back to the export without a group or
     * version (docs/wire-protocol.md 3.5).
     */
    @Test
    void unknownVersionIsRefusedByUsAlone() {
        GreetService theirs =
                dubbo.refer(GreetService.class, dubbo.url(port), reference -> reference.setVersion("9.9.9"));

        Throwable told = catchThrowable(() -> theirs.echo("x"));

        assertThat(status(told).code).isEqualTo(TriRpcStatus.Code.UNIMPLEMENTED);
        assertThat(status(told).description)
                .startsWith("service com.example.wire.GreetService:9.9.9 is not exported here");
        assertThat(refer(client, to -> to.version("9.9.9"), dubbo.endpoint()).echo("x"))
                .isEqualTo("x");
    }

    /** A service that no provider exports. */
    private interface Unknown {
        String nope(String text);
    }

    /** An interface with a method that no provider implements. */
    @WireName("com.example.wire.GreetService")
    private interface More {
        String more(String text);
    }

    @Test
    void unknownServiceAndMethodFail() {
        Unknown theirs = dubbo.refer(Unknown.class, dubbo.url(port), reference -> {});

        Throwable told = catchThrowable(() -> theirs.nope("x"));
        RpcException service = catchThrowableOfType(
                RpcException.class, () -> ours(Unknown.class).nope("x"));
        RpcException method =
                catchThrowableOfType(RpcException.class, () -> ours(More.class).more("x"));

        assertThat(status(told).code).isEqualTo(TriRpcStatus.Code.UNIMPLEMENTED);
        assertThat(status(told).description).contains("Unknown is not exported here");
        assertThat(service.code()).isEqualTo(StatusCode.UNIMPLEMENTED);
        assertThat(RemoteFailures.missing(service)).isEqualTo(RemoteFailures.Missing.SERVICE);
        assertThat(RemoteFailures.missing(method)).isEqualTo(RemoteFailures.Missing.NOTHING);
        assertThat(method.code()).as("Dubbo has no word for it").isEqualTo(StatusCode.UNKNOWN);
    }

    @Test
    void serializationThatIsNotReadIsNamed() {
        GreetService theirs = dubbo.refer(
                GreetService.class,
                dubbo.url(port),
                reference -> reference.setParameters(new HashMap<>(Map.of("serialization", "fastjson2"))));

        Throwable told = catchThrowable(() -> theirs.echo("x"));

        assertThat(status(told).code).isEqualTo(TriRpcStatus.Code.INVALID_ARGUMENT);
        assertThat(status(told).description).contains("serialization 'fastjson2'", "hessian4");
    }

    // ---- deadline tests

    @Test
    void timeoutOfDubboReachesTheMethod() {
        GreetService impatient =
                dubbo.refer(GreetService.class, dubbo.url(port), reference -> reference.setTimeout(7_000));

        assertThat(Long.parseLong(impatient.echo("remaining"))).isBetween(1L, 7_000L);
    }

    @Test
    void streamOfDubboHasNoDeadline() throws Exception {
        StreamRecorder<String> theirs = new StreamRecorder<>();
        theirShapes().limited("x", theirs);

        assertThat(theirs.all()).containsExactly("unlimited");
    }

    @Test
    void callInFlightOutlivesTheDrain() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        GreetServer slow = new GreetServer() {
            @Override
            public String slow(int ms) {
                begun.countDown();
                return super.slow(ms);
            }
        };
        RpcServer leaving = serve(settings -> settings.export(ServiceExport.of(GreetService.class, slow)));
        GreetService service = dubbo.refer(GreetService.class, dubbo.url(leaving.port()), reference -> {});
        CompletableFuture<String> call = CompletableFuture.supplyAsync(() -> service.slow(1_000));
        assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();

        leaving.drain(Duration.ofSeconds(20));

        assertThat(call.get(20, TimeUnit.SECONDS)).isEqualTo("slow");
    }

    // ---- compression tests

    @Test
    void compressedMessagesOfDubboAreRead() throws Exception {
        StreamRecorder<Integer> theirs = new StreamRecorder<>();
        StreamObserver<byte[]> byDubbo = theirShapes().upload(theirs);
        ((ClientStreamObserver<byte[]>) byDubbo).setCompression("gzip");
        byte[] digits = new byte[ShapesServer.LARGE];
        Random random = new Random(1);
        for (int i = 0; i < digits.length; i++) {
            // Gzip cannot reduce random digits to a hundredth of their size.
            digits[i] = (byte) ('0' + random.nextInt(10));
        }
        byDubbo.onNext(digits);
        byDubbo.onCompleted();

        assertThat(theirs.all()).containsExactly(ShapesServer.LARGE);
        assertThat(ourShapes.wasCompressed).isTrue();
    }

    @Test
    void dubboReadsOurCompressedMessages() throws Exception {
        StreamRecorder<byte[]> theirs = new StreamRecorder<>();
        theirShapes().squeezed(3, theirs);

        assertThat(theirs.all()).hasSize(3).allMatch(message -> message.length == ShapesServer.LARGE);
    }

    /**
     * Dubbo's providers compress a message together with its prefix, which gRPC clients do not expect
     * (docs/wire-protocol.md 3.8).
     */
    @Test
    void compressedMessagesOfDubboProvidersAreNoMessages() throws Exception {
        StreamRecorder<byte[]> ours = new StreamRecorder<>();
        ours(Shapes.class).squeezed(3, ours);

        RpcException failure = (RpcException) ours.failure();
        assertThat(failure.code()).isEqualTo(StatusCode.INTERNAL);
        assertThat(failure).hasMessageContaining("a message begins with the flags 0x1f");
    }

    /** Dubbo's providers parse a message before they decompress it (docs/wire-protocol.md 3.8). */
    @Test
    void dubboDoesNotReadTernsCompressedRequests() {
        GreetService compressed = CallOptions.none().compressed().on(usToDubbo);

        RpcException failure = catchThrowableOfType(RpcException.class, () -> compressed.echo("x".repeat(5_000)));

        assertThat(failure.code()).isEqualTo(StatusCode.UNKNOWN);
        assertThat(usToDubbo.echo("x"))
                .as("the connection is as good as before")
                .isEqualTo("x");
    }
}
