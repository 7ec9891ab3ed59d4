package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import tern.rpc.MethodDescriptor;
import tern.rpc.Response;
import tern.rpc.ServiceDescriptor;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.peer.ForbiddenClassesContract;
import tern.rpc.netty.peer.RawServer;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.ProtoWriter;
import tern.rpc.server.ServiceExport;
import tern.rpc.transport.ClientConnection;
import tern.rpc.transport.PendingCall;

class TripleForbiddenClassesTest extends ForbiddenClassesContract {

    private final TripleSides sides = new TripleSides();
    private final Requests requests = new Requests();
    private @Nullable Http2Wire wire;
    private int stream = 1;
    private @Nullable RawServer hostile;
    private @Nullable ClientConnection connection;
    private @Nullable Http2Script script;

    @AfterEach
    void close() throws Exception {
        if (wire != null) {
            wire.close();
        }
        requests.close();
        sides.close();
        if (hostile != null) {
            hostile.close();
        }
    }

    @Override
    protected int serve(Class<?> type, Object served) {
        return sides.serve(
                        ServerTransportSettings.onPort(0),
                        HttpSettings.defaults(),
                        server -> server.export(export(type, served)).genericCalls(true))
                .port();
    }

    @SuppressWarnings("unchecked") // the cast is safe, because the served object has the given type
    private static <T> ServiceExport export(Class<T> type, Object served) {
        return ServiceExport.of(type, (T) served);
    }

    @Override
    protected String refusal(int port, Class<?> type, List<byte[]> arguments) {
        return exchange(port, type.getName() + "/take", arguments);
    }

    @Override
    protected String genericRefusal(int port, Class<?> type, byte[] arguments) {
        return exchange(port, type.getName() + "/$invoke", List.of(wire("take"), wire('N'), arguments));
    }

    private String exchange(int port, String path, List<byte[]> arguments) {
        OutputBuffer message = new OutputBuffer();
        ProtoWriter.text(message, 1, "hessian4");
        arguments.forEach(argument -> ProtoWriter.bytes(message, 2, argument));
        if (path.endsWith("/$invoke")) {
            ProtoWriter.text(message, 3, "java.lang.String");
            ProtoWriter.text(message, 3, "[Ljava.lang.String;");
            ProtoWriter.text(message, 3, "[Ljava.lang.Object;");
        }
        if (wire == null) {
            wire = Http2Wire.open(port);
        }
        wire.request(stream, "/" + path, false);
        wire.message(stream, true, 0, message.toByteArray());
        Http2Wire.Answer answer = wire.answer(stream);
        stream += 2;
        assertThat(answer.header("grpc-status")).isEqualTo("3");
        return URLDecoder.decode(answer.header("grpc-message").replace("+", "%2B"), StandardCharsets.UTF_8);
    }

    @Override
    protected Throwable failureOfAnswer(Class<?> type, byte[] value) {
        MethodDescriptor give = ServiceDescriptor.of(type).overloads("give").get(0);
        PendingCall call = send(give);
        Http2Script.Request request = script().request();
        script().answer(request.stream, message(value));
        return failureOf(() -> outcome(call));
    }

    @Override
    protected Throwable failureOfException(Class<?> type, byte[] exception) {
        MethodDescriptor give = ServiceDescriptor.of(type).overloads("give").get(0);
        PendingCall call = send(give);
        Http2Script.Request request = script().request();
        script().head(request.stream, ":status", "200", "content-type", "application/grpc");
        script().data(request.stream, Http2Script.framed(0, message(exception)));
        script().end(request.stream, "grpc-status", "0", "tri-exception-code", "1");
        return failureOf(() -> outcome(call));
    }

    private static byte[] message(byte[] value) {
        OutputBuffer message = new OutputBuffer();
        ProtoWriter.text(message, 1, "hessian4");
        ProtoWriter.bytes(message, 2, value);
        ProtoWriter.text(message, 3, "java.lang.Object");
        return message.toByteArray();
    }

    private PendingCall send(MethodDescriptor give) {
        if (hostile == null) {
            hostile = RawServer.start();
            connection = requests.connect(hostile.endpoint());
        }
        return Requests.send(connection, requests.call(give));
    }

    private Http2Script script() {
        if (script == null) {
            script = Http2Script.accept(hostile);
        }
        return script;
    }

    private static @Nullable Object outcome(PendingCall call) throws Exception {
        try {
            Response response = call.await();
            return response.value();
        } catch (Exception e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
