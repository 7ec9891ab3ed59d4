package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.example.wire.GreetService;
import com.google.protobuf.ListValue;
import com.google.protobuf.Message;
import com.google.protobuf.Value;
import com.google.protobuf.util.JsonFormat;
import io.grpc.CallOptions;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
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

    private final TripleSides sides = new TripleSides();
    private GrpcPeer peer;

    @BeforeEach
    void connect() {
        peer = new GrpcPeer(sides.serve(
                        limits -> limits,
                        server -> server.export(ServiceExport.of(Numbers.class, (Numbers) number -> number + 1)))
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
    void messageThatIsNoValueIsToldWhatIsExpected() throws IOException {
        ListValue list = ListValue.newBuilder().addValues(value("\"x\"")).build();

        assertThatThrownBy(() -> call(GreetService.class, "slow", list))
                .hasMessage(
                        "INVALID_ARGUMENT: GreetService/slow takes Java values in hessian4 or hessian2; with plain protobuf, the request must"
                                + " be a google.protobuf.Value; JSON over HTTP works too");
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
