package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import tern.rpc.MethodDescriptor;
import tern.rpc.MethodType;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServiceDescriptor;
import tern.rpc.StatusCode;
import tern.rpc.netty.peer.RawServer;
import tern.rpc.netty.triple.Http2Script.Request;
import tern.rpc.transport.ClientConnection;
import tern.rpc.transport.PendingCall;

/** Makes calls with the Triple client to a server whose frames the test writes. */
abstract class RawServerCalls {

    static final MethodDescriptor CALL = ServiceDescriptor.of(
                    "raw.Service",
                    List.of(new ServiceDescriptor.Operation("call", MethodType.UNARY, byte[].class, byte[].class)))
            .overloads("call")
            .get(0);

    static final String[] OK = {":status", "200", "content-type", "application/grpc"};
    final Requests requests = new Requests();
    final RawServer server = RawServer.start();

    @AfterEach
    void close() {
        requests.close();
        server.close();
    }

    ClientConnection connect() {
        return requests.connect(server.endpoint());
    }

    PendingCall send(ClientConnection connection, String message) {
        return Requests.send(connection, requests.call(CALL, (Object) message.getBytes(UTF_8)));
    }

    static String answer(PendingCall pending) {
        try {
            Response response = pending.await();
            return new String((byte[]) response.value(), UTF_8);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    static RpcException failure(PendingCall pending) {
        Throwable thrown = catchThrowable(pending::await);
        assertThat(thrown).isInstanceOf(RpcException.class);
        return (RpcException) thrown;
    }

    static void assertFailed(PendingCall pending, StatusCode code, Executed executed, String... texts) {
        RpcException failure = failure(pending);
        assertThat(failure.code()).as(failure.getMessage()).isEqualTo(code);
        assertThat(failure.wasExecuted()).isEqualTo(executed);
        assertThat(failure).hasMessageContainingAll(texts);
    }

    static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    static byte[] message(Request request) {
        byte[] body = request.body.toByteArray();
        assertThat(ByteBuffer.wrap(body).getInt(1)).isEqualTo(body.length - 5);
        return Arrays.copyOfRange(body, 5, body.length);
    }

    static String hex(int value) {
        return HexFormat.of().toHexDigits(value);
    }

    static void sendInPieces(Http2Script script, byte[] block) {
        for (int done = 0; done < block.length; done += 16_000) {
            int end = Math.min(block.length, done + 16_000);
            script.send(
                    done == 0 ? Http2Script.HEADERS : Http2Script.CONTINUATION,
                    end == block.length ? Http2Script.END_HEADERS : 0,
                    3,
                    Arrays.copyOfRange(block, done, end));
        }
    }

    static Response response(PendingCall pending) {
        try {
            return pending.await();
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
