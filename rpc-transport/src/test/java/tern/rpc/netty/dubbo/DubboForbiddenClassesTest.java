package tern.rpc.netty.dubbo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import tern.rpc.ServiceDescriptor;
import tern.rpc.netty.peer.ForbiddenClassesContract;
import tern.rpc.netty.peer.RawFrame;
import tern.rpc.netty.peer.RawServer;
import tern.rpc.netty.peer.RawSocket;
import tern.rpc.server.ServiceExport;

class DubboForbiddenClassesTest extends ForbiddenClassesContract {

    private final Sides sides = new Sides();
    private @Nullable RawSocket socket;
    private @Nullable RawServer hostile;
    private @Nullable Object proxy;
    private volatile byte[] answer = {};

    @AfterEach
    void close() {
        if (socket != null) {
            socket.close();
        }
        sides.close();
        if (hostile != null) {
            hostile.close();
        }
    }

    @Override
    protected int serve(Class<?> type, Object served) {
        return sides.serve(
                        limits -> limits,
                        server -> server.export(export(type, served)).genericCalls(true))
                .port();
    }

    @SuppressWarnings("unchecked") // the cast is safe, because the served object has the given type
    private static <T> ServiceExport export(Class<T> type, Object served) {
        return ServiceExport.of(type, (T) served);
    }

    @Override
    protected String refusal(int port, Class<?> type, List<byte[]> arguments) {
        String descriptor = ServiceDescriptor.of(type).overloads("take").get(0).descriptor();
        return exchange(port, type, "take", descriptor, arguments);
    }

    @Override
    protected String genericRefusal(int port, Class<?> type, byte[] arguments) {
        return exchange(
                port,
                type,
                "$invoke",
                "Ljava/lang/String;[Ljava/lang/String;[Ljava/lang/Object;",
                List.of(wire("take"), wire('N'), arguments));
    }

    private String exchange(int port, Class<?> type, String method, String descriptor, List<byte[]> arguments) {
        List<Object> parts = new ArrayList<>(List.of("2.0.2", type.getName(), "0.0.0", method, descriptor));
        parts.addAll(arguments);
        parts.addAll(List.of('H', "path", type.getName(), "interface", type.getName(), 'Z'));
        if (socket == null) {
            socket = RawSocket.connect(port);
        }
        socket.send(new RawFrame(RawFrame.TWO_WAY, 0, 5, wire(parts.toArray())));
        RawFrame refused = socket.read();
        assertThat(refused.status()).isEqualTo(DubboStatus.BAD_REQUEST);
        return refused.text();
    }

    @Override
    protected Throwable failureOfAnswer(Class<?> type, byte[] value) {
        return failureOfBody(type, wire((byte) 0x91, value));
    }

    @Override
    protected Throwable failureOfException(Class<?> type, byte[] exception) {
        return failureOfBody(type, wire((byte) 0x90, exception));
    }

    private Throwable failureOfBody(Class<?> type, byte[] body) {
        answer = body;
        if (hostile == null) {
            hostile = RawServer.start();
            hostile.serve(request -> new RawFrame(RawFrame.RESPONSE, 20, request.id(), answer).bytes());
            proxy = Sides.refer(type, sides.client(limits -> limits), settings -> {}, hostile.endpoint());
        }
        return failureOf(() -> type.getMethod("give").invoke(proxy));
    }
}
