package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.example.wire.GreetService;
import com.google.protobuf.BoolValue;
import com.google.protobuf.DoubleValue;
import com.google.protobuf.Empty;
import com.google.protobuf.Int64Value;
import com.google.protobuf.ListValue;
import com.google.protobuf.Message;
import com.google.protobuf.Mixin;
import com.google.protobuf.StringValue;
import com.google.protobuf.Timestamp;
import com.google.protobuf.Value;
import com.google.protobuf.util.JsonFormat;
import io.grpc.CallOptions;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tern.rpc.ServiceDescriptor;
import tern.rpc.server.ServiceExport;

/**
 * Tests calls from a gRPC client to methods of plain Java interfaces. The client knows only the descriptors of the
 * methods.
 */
class ValueCallsTest {

    interface Numbers {
        long next(long number);
    }

    interface Persons {
        String find(Long id);

        String rename(String from, String to);

        String first();
    }

    private final List<String> found = Collections.synchronizedList(new ArrayList<>());
    private final Persons persons = new Persons() {
        @Override
        public String find(Long id) {
            found.add("find " + id);
            return "Ada";
        }

        @Override
        public String rename(String from, String to) {
            found.add("rename " + from + " to " + to);
            return to;
        }

        @Override
        public String first() {
            found.add("first");
            return "Ada";
        }
    };

    private final TripleSides sides = new TripleSides();
    private GrpcPeer peer;

    @BeforeEach
    void connect() {
        peer = new GrpcPeer(sides.serve(
                        limits -> limits,
                        server -> server.export(ServiceExport.of(Numbers.class, (Numbers) number -> number + 1))
                                .export(ServiceExport.of(Persons.class, persons)))
                .port());
    }

    @AfterEach
    void close() throws Exception {
        peer.close();
        sides.close();
    }

    @Test
    void oneArgumentIsAValue() throws IOException {
        assertThat(call("echo", "\"hello ä\"")).isEqualTo("\"hello ä\"");
        assertThat(call("echo", "null")).isEqualTo("null");
    }

    @Test
    void capitalOfTheMethodDoesNotMatter() throws IOException {
        assertThat(call("Echo", "\"x\"")).isEqualTo("\"x\"");
    }

    @Test
    void noArgumentsAreAnEmptyList() throws IOException {
        assertThat(callList("nul", "[]")).isEqualTo("null");
    }

    @Test
    void severalArgumentsAreAList() throws IOException {
        assertThat(callList("map", "[{\"k\":1},[{\"name\":\"Ann\",\"age\":3}]]"))
                .contains("\"k\":1");
    }

    @Test
    void beanIsAStruct() throws IOException {
        assertThat(call("record", "{\"x\":1,\"y\":-2}")).isEqualTo("{\"x\":1,\"y\":-2}");
    }

    @Test
    void numberThatADoubleDoesNotHoldIsText() throws IOException {
        assertThat(call(Numbers.class, "next", value("41"))).isEqualTo("42");
        assertThat(call(Numbers.class, "next", value("\"9007199254740992\""))).isEqualTo("\"9007199254740993\"");
    }

    @Test
    void resultOfAVoidMethodIsNull() throws IOException {
        assertThat(call("nothing", "\"x\"")).isEqualTo("null");
    }

    @Test
    void argumentThatDoesNotFitIsNamed() {
        assertThatThrownBy(() -> call("slow", "\"soon\""))
                .isInstanceOfSatisfying(StatusRuntimeException.class, failure -> {
                    assertThat(failure.getStatus().getCode()).isEqualTo(Code.INVALID_ARGUMENT);
                    assertThat(failure.getStatus().getDescription()).contains("GreetService/slow, parameter 1");
                });
    }

    @Test
    void exceptionOfTheMethodIsAStatus() {
        assertThatThrownBy(() -> call("checked", "\"x\""))
                .isInstanceOfSatisfying(StatusRuntimeException.class, failure -> {
                    assertThat(failure.getStatus().getCode()).isEqualTo(Code.UNKNOWN);
                    assertThat(failure.getStatus().getDescription()).isNotEmpty();
                });
    }

    @Test
    void overloadsCannotBeDistinguished() {
        assertThatThrownBy(() -> callList("add", "[1,2]"))
                .isInstanceOfSatisfying(StatusRuntimeException.class, failure -> {
                    assertThat(failure.getStatus().getCode()).isEqualTo(Code.INVALID_ARGUMENT);
                    assertThat(failure.getStatus().getDescription())
                            .startsWith("GreetService/add has overloads, so it cannot be called with plain protobuf;"
                                    + " call one of add~")
                            .endsWith(" with JSON over HTTP, or call a method without overloads");
                });
    }

    @Test
    void messageThatIsNoValueIsRefusedWithTheExpectedType() throws IOException {
        ListValue list = ListValue.newBuilder().addValues(value("\"x\"")).build();

        assertThatThrownBy(() -> call(GreetService.class, "slow", list))
                .hasMessage("INVALID_ARGUMENT: GreetService/slow takes Java values in hessian4 or hessian2; with plain"
                        + " protobuf, the request must be a google.protobuf.Value; JSON over HTTP works too");
    }

    /**
     * Returns messages that a client with its own {@code .proto} file could send. The messages are of types that
     * protobuf defines. Their fields have the same numbers and types as the fields in such a file.
     */
    static Stream<Arguments> messagesOfOwnFiles() {
        return Stream.of(
                Arguments.of("find", Int64Value.of(7)),
                Arguments.of("find", Int64Value.of(-7)),
                Arguments.of("find", Int64Value.of(0)),
                Arguments.of("find", DoubleValue.of(7)),
                Arguments.of("find", BoolValue.of(true)),
                Arguments.of("find", StringValue.of("Ada")),
                Arguments.of("find", StringValue.of("hessian-4")),
                Arguments.of(
                        "find",
                        Mixin.newBuilder().setName("Ada").setRoot("Paris").build()),
                Arguments.of("find", Timestamp.newBuilder().setNanos(7).build()),
                Arguments.of("rename", StringValue.of("Ada")),
                Arguments.of("rename", StringValue.of("2 lines")),
                Arguments.of("rename", StringValue.of(" x")),
                Arguments.of(
                        "rename",
                        Mixin.newBuilder().setName("Ada").setRoot("Bea").build()),
                Arguments.of("rename", Int64Value.of(7)),
                Arguments.of("first", StringValue.of("Ada")),
                Arguments.of("first", Int64Value.of(7)));
    }

    @ParameterizedTest
    @MethodSource("messagesOfOwnFiles")
    void messageOfAnotherFileIsRefusedWithTheExpectedType(String method, Message request) {
        String expected = method.equals("find") ? "google.protobuf.Value" : "google.protobuf.ListValue";

        assertThatThrownBy(() -> call(Persons.class, method, request))
                .isInstanceOfSatisfying(StatusRuntimeException.class, failure -> {
                    assertThat(failure.getStatus().getCode()).isEqualTo(Code.INVALID_ARGUMENT);
                    assertThat(failure.getStatus().getDescription())
                            .endsWith("/" + method
                                    + " takes Java values in hessian4 or hessian2; with plain protobuf, the"
                                    + " request must be a " + expected + "; JSON over HTTP works too");
                });
        assertThat(found).isEmpty();
    }

    @Test
    void emptyMessageCallsAMethodWithoutParameters() throws IOException {
        assertThat(call(Persons.class, "first", Empty.getDefaultInstance())).isEqualTo("\"Ada\"");
        assertThat(found).containsExactly("first");
    }

    private String call(String method, String argument) throws IOException {
        return call(GreetService.class, method, value(argument));
    }

    private static Value value(String json) throws IOException {
        Value.Builder value = Value.newBuilder();
        JsonFormat.parser().merge(json, value);
        return value.build();
    }

    private String callList(String method, String arguments) throws IOException {
        ListValue.Builder request = ListValue.newBuilder();
        JsonFormat.parser().merge(arguments, request);
        return call(GreetService.class, method, request.build());
    }

    private String call(Class<?> service, String method, Message request) throws IOException {
        Message response = ClientCalls.blockingUnaryCall(
                peer.channel(),
                GrpcPeer.unary(
                        ServiceDescriptor.nameOf(service),
                        method,
                        request.getDefaultInstanceForType(),
                        Value.getDefaultInstance()),
                CallOptions.DEFAULT,
                request);
        return JsonFormat.printer()
                .omittingInsignificantWhitespace()
                .print(response)
                .replace(".0", "");
    }
}
