package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.StringValue;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyServerTransport;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.peer.RawSocket;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.serialization.json.JsonCodec;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.rpc.transport.CallHandler;
import tern.rpc.transport.ServerCall;
import tern.rpc.transport.ServerTransport;
import tools.jackson.databind.json.JsonMapper;

/**
 * Tests the report sizes that the server assumes for callers of streams. A report size is the number of bytes that a
 * caller reads before it reports them.
 */
@Timeout(60)
class StepsOfReadersTest {

    private static final String COUNT = "/" + Words.class.getName() + "/count";

    private final BlockingQueue<ServerCall> calls = new LinkedBlockingQueue<>();
    private final EventLoops loops = EventLoops.start(1);
    private final TripleCodecs codecs = new TripleCodecs(
            HessianSerializer.builder().build(),
            new JsonCodec(JsonMapper.builder().build()),
            0);
    private final RpcServer server = RpcServer.builder(seen(new NettyServerTransport(
                    ServerTransportSettings.onPort(0),
                    loops,
                    List.of(
                            new TripleProtocol(codecs, HttpSettings.defaults()),
                            new Http1Protocol(codecs, HttpSettings.defaults())))))
            .export(ServiceExport.of(Words.class, new WordsServer()))
            .build();

    /** Records the calls that a transport passes to its server. */
    private ServerTransport seen(ServerTransport transport) {
        return proxy(ServerTransport.class, (method, arguments) -> {
            if (method.getName().equals("start")) {
                transport.start(recording((CallHandler) arguments[0]));
                return null;
            }
            return method.invoke(transport, arguments);
        });
    }

    private CallHandler recording(CallHandler handler) {
        return proxy(CallHandler.class, (method, arguments) -> {
            if (method.getName().equals("handle")) {
                calls.add((ServerCall) arguments[0]);
            }
            return method.invoke(handler, arguments);
        });
    }

    private interface Invocation {
        Object of(Method method, Object[] arguments) throws Throwable;
    }

    private static <T> T proxy(Class<T> type, Invocation invocation) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                    try {
                        return invocation.of(method, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }

    @AfterEach
    void close() {
        server.close();
        loops.close();
    }

    private long stepOfTheNextCall() throws InterruptedException {
        ServerCall call = calls.poll(30, TimeUnit.SECONDS);
        assertThat(call).isNotNull();
        return call.stream().takenStepBytes();
    }

    @ParameterizedTest
    @CsvSource({"65536, 32768", "1048576, 524288", "8388608, 524288"})
    void callerByHttp2ReportsHalfOfItsWindowAtOnce(int window, long step) throws Exception {
        server.start();
        try (Http2Wire wire = Http2Wire.open(server.port())) {
            wire.frame(Http2Wire.SETTINGS, 0, 0, Http2Script.settings(Http2Script.INITIAL_WINDOW_SIZE, window));
            wire.request(1, COUNT, false);
            wire.message(1, true, 0, StringValue.of("1").toByteArray());

            assertThat(stepOfTheNextCall()).isEqualTo(step);
        }
    }

    @Test
    void socketOfACallerByHttp1TakesManyBytesAtOnce() throws Exception {
        server.start();
        try (RawSocket socket = RawSocket.connect(server.port())) {
            socket.send(("POST " + COUNT + " HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n"
                            + "content-type: application/json\r\ncontent-length: 3\r\n\r\n\"1\"")
                    .getBytes(UTF_8));

            assertThat(stepOfTheNextCall()).isEqualTo(512 << 10);
        }
    }
}
