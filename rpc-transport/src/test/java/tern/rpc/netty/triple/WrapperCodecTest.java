package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.alibaba.com.caucho.hessian.io.Hessian2Output;
import com.example.wire.BizException;
import com.example.wire.GreetService;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.MethodDescriptor;
import tern.rpc.MethodType;
import tern.rpc.RpcException;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.StatusCode;
import tern.rpc.StreamObserver;
import tern.rpc.serialization.CoderPool;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.ProtoWriter;
import tern.rpc.serialization.SerializationException;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.transport.BuiltInMethods;
import tern.rpc.transport.ServiceLookup;

class WrapperCodecTest {

    private static final ServiceDescriptor GREET = ServiceDescriptor.of(GreetService.class);
    private static final ServiceDescriptor STREAMS = ServiceDescriptor.of(Streams.class);

    private final CoderPool coders = coders();
    private final PayloadCodecs codecs = new PayloadCodecs(coders);

    interface Streams {
        void observed(String s, StreamObserver<String> out);

        Flow.Publisher<String> published(int n);

        Flow.Publisher<Long> both(Flow.Publisher<Integer> in);
    }

    private static CoderPool coders() {
        HessianSerializer serializer = HessianSerializer.builder().build();
        serializer.prepare(GREET);
        serializer.prepare(STREAMS);
        serializer.prepare(BuiltInMethods.DESCRIPTOR);
        return new CoderPool(serializer);
    }

    private record Lookup(ServiceDescriptor service, boolean genericCalls) implements ServiceLookup {

        @Override
        public ServiceDescriptor service(String interfaceName) {
            return service;
        }

        @Override
        public @Nullable MethodDescriptor builtIn(String name, String descriptor) {
            return BuiltInMethods.DESCRIPTOR.method(name, descriptor);
        }

        @Override
        public void require(ServiceKey key) {}

        @Override
        public ServiceKey withoutGroupAndVersion(String interfaceName) {
            return new ServiceKey(interfaceName, "", "");
        }
    }

    private static MethodDescriptor method(ServiceDescriptor service, String name) {
        return service.overloads(name).get(0);
    }

    private WrapperCodec codec(String name) {
        return (WrapperCodec) codecs.of(method(GREET, name));
    }

    private static byte[] request(PayloadCodec codec, Object... arguments) {
        OutputBuffer out = new OutputBuffer();
        codec.writeRequest(arguments, out);
        return out.toByteArray();
    }

    private DecodedRequest read(String method, byte[] bytes) {
        return read(method, bytes, true);
    }

    private DecodedRequest read(String method, byte[] bytes, boolean genericCalls) {
        Lookup lookup = new Lookup(GREET, genericCalls);
        return codecs.readRequest(
                lookup, GREET, MethodLookup.find(lookup, GREET, method), bytes, bytes.length, "caller");
    }

    private static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex);
    }

    /** Encodes a wrapper message as an implementation other than Tern might encode it. */
    private static byte[] wrapper(String serializeType, List<byte[]> arguments, String... types) {
        OutputBuffer out = new OutputBuffer();
        for (String type : types) {
            ProtoWriter.text(out, 3, type);
        }
        arguments.forEach(argument -> ProtoWriter.bytes(out, 2, argument));
        ProtoWriter.number(out, 9, 300);
        ProtoWriter.text(out, 1, serializeType);
        return out.toByteArray();
    }

    @Test
    void requestEqualsTheRequestOfDubbo() {
        assertThat(request(codec("echo"), "hello"))
                .isEqualTo(bytes("0A086865737369616E34" + "12060568656C6C6F" + "1A106A6176612E6C616E672E537472696E67"));
        assertThat(request(codec("nul"))).isEqualTo(bytes("0A086865737369616E34"));
    }

    @Test
    void streamOfAnswersIsNamedAmongTheTypes() {
        assertThat(WrapperCodec.argumentTypes(method(STREAMS, "observed")))
                .containsExactly("java.lang.String", "org.apache.dubbo.common.stream.StreamObserver");
        assertThat(WrapperCodec.argumentTypes(method(STREAMS, "published")))
                .containsExactly("int", "org.apache.dubbo.common.stream.StreamObserver");
        assertThat(WrapperCodec.argumentTypes(method(STREAMS, "both"))).containsExactly("java.lang.Integer");
        assertThat(method(STREAMS, "both").type()).isEqualTo(MethodType.BIDI_STREAMING);
    }

    @Test
    void writtenRequestIsReadBack() {
        DecodedRequest read = read("echo", request(codec("echo"), "x".repeat(100_000)));

        assertThat(read.method()).isSameAs(method(GREET, "echo"));
        assertThat(read.arguments()).containsExactly("x".repeat(100_000));
        assertThat(read.codec()).isSameAs(codec("echo"));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 125, 126, 127, 128, 16_382, 16_383, 16_384, 16_385, 2_100_000})
    void lengthsOfEverySizeAreWritten(int length) {
        OutputBuffer out = new OutputBuffer();
        WrapperCodec codec = codec("bytes");

        codec.writeResponse(new byte[length], out);

        assertThat((byte[]) codec.readResponse(out.array(), 0, out.position(), "server"))
                .hasSize(length);
    }

    @Test
    void overloadIsChosenByTheTypes() {
        List<MethodDescriptor> overloads = GREET.overloads("add");

        for (MethodDescriptor overload : overloads) {
            boolean ints = overload.descriptor().equals("II");
            byte[] request = ints ? request(codecs.of(overload), 1, 2) : request(codecs.of(overload), 1L, 2L);

            assertThat(read("add", request).method()).isSameAs(overload);
        }
        assertThatThrownBy(() -> read("add", wrapper("hessian4", List.of(), "java.lang.String")))
                .hasMessageContaining("UNIMPLEMENTED")
                .hasMessageContaining("[java.lang.String]")
                .hasMessageContaining("[int, int]");
    }

    @Test
    void typesCountForNothingWhereThereIsOneMethod() {
        byte[] hello = bytes("0568656C6C6F");

        assertThat(read("echo", wrapper("hessian4", List.of(hello), "a.B", "c.D"))
                        .arguments())
                .containsExactly("hello");
        assertThat(read("Echo", wrapper("hessian2", List.of(hello))).arguments())
                .containsExactly("hello");
    }

    @Test
    void answerRepeatsTheNameOfTheFormat() {
        DecodedRequest read = read("echo", wrapper("hessian2", List.of(bytes("0568656C6C6F"))));
        OutputBuffer out = new OutputBuffer();

        read.codec().writeResponse("ok", out);

        assertThat(out.toByteArray())
                .isEqualTo(bytes("0A086865737369616E32" + "1203026F6B" + "1A106A6176612E6C616E672E537472696E67"));
        assertThat(read.codec().readResponse(out.array(), 0, out.position(), "server"))
                .isEqualTo("ok");
    }

    @Test
    void formatThatIsNotReadHereIsRefused() {
        for (String type : List.of("fastjson2", "", "java", "x".repeat(1_000))) {
            RpcException refused =
                    catchThrowableOfType(RpcException.class, () -> read("echo", wrapper(type, List.of(bytes("4E")))));

            assertThat(refused.code()).isEqualTo(StatusCode.INVALID_ARGUMENT);
            assertThat(refused).message().contains("hessian4").hasSizeLessThan(300);
        }
    }

    @Test
    void formatIsNamedIfTheMessageIsAWrapper() {
        assertThatThrownBy(() -> read("echo", wrapper("fastjson2", List.of(bytes("4E")), "java.lang.String")))
                .hasMessageContaining("the arguments use serialization 'fastjson2'; this server reads hessian4");
        for (byte[] other : new byte[][] {
            wrapper("Ada", List.of()),
            wrapper("Ada", List.of(), "java.lang.String"),
            wrapper("Ada", List.of(bytes("4E"))),
            wrapper("Ada", List.of(bytes("4E")), "Paris"),
            wrapper("Ada", List.of(bytes("4E")), "int", "ada@example.org")
        }) {
            assertThatThrownBy(() -> read("echo", other))
                    .hasMessageContaining("with plain protobuf, the request must be a google.protobuf.Value");
        }
    }

    @Test
    void wrapperOfAMethodWithoutParametersHasOnlyTheNameOfTheFormat() {
        assertThat(read("nul", bytes("0A086865737369616E34")).arguments()).isEmpty();
        assertThat(read("nul", bytes("0A086865737369616E32")).arguments()).isEmpty();
    }

    @Test
    void wrongNumberOfArgumentsIsRefused() {
        assertThatThrownBy(() -> read("echo", wrapper("hessian4", List.of())))
                .hasMessageContaining("INVALID_ARGUMENT")
                .hasMessageContaining("takes 1 argument, not 0");
        assertThatThrownBy(() -> read("echo", wrapper("hessian4", List.of(bytes("4E"), bytes("4E")))))
                .hasMessageContaining("INVALID_ARGUMENT");
    }

    @Test
    void numberOfFieldsIsBounded() {
        List<byte[]> many = new ArrayList<>();
        for (int i = 0; i < 256; i++) {
            many.add(bytes("4E"));
        }

        assertThatThrownBy(() -> read("echo", wrapper("hessian4", many))).isInstanceOf(SerializationException.class);
        assertThatThrownBy(() -> read("echo", wrapper("hessian4", List.of(), "t".repeat(600))))
                .isInstanceOf(SerializationException.class);
    }

    @Test
    void builtInMethodsAreFound() throws IOException {
        byte[] invoke = request(
                codecs.of(BuiltInMethods.DESCRIPTOR.overloads("$invoke").get(0)),
                "echo",
                new String[] {"java.lang.String"},
                new Object[] {"gen"});

        DecodedRequest read = read("$invoke", invoke);

        assertThat(read.method().name()).isEqualTo("$invoke");
        assertThat(read.arguments()).hasSize(3).startsWith("echo");
        ByteArrayOutputStream map = new ByteArrayOutputStream();
        Hessian2Output out = new Hessian2Output(map);
        out.writeObject(new HashMap<>());
        out.flush();
        byte[] echo = wrapper("hessian4", List.of(map.toByteArray()), "java.lang.Object");
        assertThat(read("$echo", echo, true).arguments()).hasSize(1);
        assertThatThrownBy(() -> read("$echo", echo, false)).hasMessageContaining("rpc.server.generic-calls");
        assertThat(read("$echo", wrapper("hessian4", List.of(bytes("024F4B"))), false)
                        .arguments())
                .containsExactly("OK");
    }

    @Test
    void unknownMethodIsRefused() {
        assertThatThrownBy(() -> read("nope", new byte[0]))
                .hasMessageContaining("UNIMPLEMENTED")
                .hasMessageContaining("nope");
        assertThatThrownBy(() -> read("$nope", new byte[0])).hasMessageContaining("UNIMPLEMENTED");
        assertThatThrownBy(() -> read("", new byte[0])).hasMessageContaining("UNIMPLEMENTED");
    }

    @Test
    void exceptionsAreSentWithTheirType() {
        WrapperCodec codec = codec("checked");
        OutputBuffer out = new OutputBuffer();

        codec.writeException(new BizException("biz:x", 42), 0, out);

        assertThat(codec.readException(out.array(), 0, out.position(), "server"))
                .isInstanceOfSatisfying(
                        BizException.class, read -> assertThat(read.getCode()).isEqualTo(42));
    }

    @Test
    void errorIsSentAsTextBecauseDubboRefusesErrors() {
        WrapperCodec codec = codec("checked");
        OutputBuffer out = new OutputBuffer();

        codec.writeException(new StackOverflowError("deep"), 0, out);

        assertThat(codec.readException(out.array(), 0, out.position(), "server"))
                .isExactlyInstanceOf(RuntimeException.class)
                .hasMessage("java.lang.StackOverflowError: deep");
    }

    @Test
    void answerOfVoidIsNothing() {
        WrapperCodec codec = codec("nothing");
        OutputBuffer out = new OutputBuffer();
        codec.writeResponse(null, out);

        assertThat(out.toByteArray()).isEqualTo(bytes("0A086865737369616E34" + "12014E" + "1A04766F6964"));
        assertThat(codec.readResponse(out.array(), 0, out.position(), "server")).isNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "0A086865737369616E34", "120500", "0A096661737473736F6E3212014E", "1200", "1205FFFFFFFFFF"})
    void brokenAnswerIsRefused(String hex) {
        byte[] bytes = bytes(hex);

        assertThatThrownBy(() -> codec("echo").readResponse(bytes, 0, bytes.length, "server"))
                .isInstanceOf(SerializationException.class);
        assertThatThrownBy(() -> codec("echo").readException(bytes, 0, bytes.length, "server"))
                .isInstanceOf(SerializationException.class);
    }

    @Test
    void requestCutAnywhereIsRefused() {
        byte[] whole = request(codec("echo"), "hello");
        for (int length = 0; length < whole.length - 18; length++) {
            byte[] cut = Arrays.copyOf(whole, length);

            assertThatThrownBy(() -> read("echo", cut))
                    .isInstanceOfAny(SerializationException.class, RpcException.class);
        }
    }

    @Test
    void bytesOfAServiceAreSentUnchanged() {
        ServiceDescriptor raw = ServiceDescriptor.of(
                "raw.Service",
                List.of(new ServiceDescriptor.Operation("call", MethodType.UNARY, byte[].class, byte[].class)));
        PayloadCodec codec = codecs.of(raw.overloads("call").get(0));
        OutputBuffer out = new OutputBuffer();
        codec.writeResponse(new byte[] {3}, out);

        assertThat(request(codec, new byte[] {1, 2})).containsExactly(1, 2);
        assertThat(codec.readRequest(new byte[] {0, 1, 2, 3}, 1, 2)).containsExactly(new byte[] {1, 2});
        assertThat(codec.readResponse(out.array(), 0, out.position(), "server")).isEqualTo(new byte[] {3});
        assertThatThrownBy(() -> request(codec, "text")).isInstanceOf(SerializationException.class);
    }
}
