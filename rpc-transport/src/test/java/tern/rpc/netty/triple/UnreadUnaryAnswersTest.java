package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.BytesValue;
import com.google.protobuf.StringValue;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.metrics.RpcMeter;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.Slo;
import tern.rpc.netty.peer.Await;
import tern.rpc.netty.peer.RawSocket;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/** Tests that unread answers on many connections do not exhaust a server's memory. */
@Timeout(120)
class UnreadUnaryAnswersTest {

    private static final String PATH = "/" + Large.class.getName() + "/";
    private static final int ANSWER_BYTES = 512 << 10;
    private static final int CONNECTIONS = 20;
    private static final int CALLS = 10;

    /**
     * The number of unread bytes above which the server closes any connection. The number is four times {@code
     * max-unsent-answers}.
     */
    private static final long MAX_BYTES = 8 << 20;

    /**
     * The size of an answer, in bytes. The server writes answers of this size without Netty's codec. All answers
     * together exceed the socket buffers.
     */
    private static final int PAGE_BYTES = 8_000;

    private static final int PAGES = 6_000;

    /** A service whose answers on all connections together occupy twelve times {@link #MAX_BYTES}. */
    public interface Large {
        BytesValue large(StringValue text);

        BytesValue page(StringValue text);

        StringValue small(StringValue text);
    }

    private final class LargeServer implements Large {
        @Override
        public BytesValue large(StringValue text) {
            called.incrementAndGet();
            mostUnsent.accumulateAndGet((long) unsent(), Math::max);
            return BytesValue.of(ByteString.copyFrom(new byte[ANSWER_BYTES]));
        }

        @Override
        public BytesValue page(StringValue text) {
            called.incrementAndGet();
            return BytesValue.of(ByteString.copyFrom(new byte[PAGE_BYTES]));
        }

        @Override
        public StringValue small(StringValue text) {
            return text;
        }
    }

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final AtomicLong mostUnsent = new AtomicLong();
    private final AtomicInteger called = new AtomicInteger();
    private final TripleSides sides = new TripleSides();
    private final List<AutoCloseable> open = new ArrayList<>();
    private final RpcServer server = sides.serve(
            limits -> limits.withMaxUnsentBytes(1 << 20, MAX_BYTES / 4),
            settings -> settings.workers(4, 1_000)
                    .meters(new RpcMeters(registry, Slo.DEFAULT))
                    .export(ServiceExport.of(Large.class, new LargeServer())));

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
        Await.until("nothing is kept for anybody", () -> unsent() == 0);
        sides.close();
    }

    private double unsent() {
        return registry.get(RpcMeter.SERVER_UNSENT.key()).gauge().value();
    }

    private double connections() {
        return registry.get(RpcMeter.SERVER_CONNECTIONS.key()).gauge().value();
    }

    private <C extends AutoCloseable> C opened(C connection) {
        open.add(connection);
        return connection;
    }

    /** Requests ten answers over HTTP/2 and reads none of the answers. */
    private void askByHttp2(boolean windows) {
        Http2Wire wire = opened(Http2Wire.open(server.port()));
        if (windows) {
            wire.openWindow(0, 1 << 30);
            wire.frame(Http2Wire.SETTINGS, 0, 0, Http2Script.settings(Http2Script.INITIAL_WINDOW_SIZE, 1 << 30));
        }
        for (int i = 0; i < CALLS; i++) {
            wire.request(1 + 2 * i, PATH + "large", false);
            wire.message(1 + 2 * i, true, 0, StringValue.of("x").toByteArray());
        }
    }

    private void askByHttp1(RawSocket socket, String method) {
        byte[] body = "\"x\"".getBytes(UTF_8);
        socket.send(("POST " + PATH + method + " HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
                        + "content-length: " + body.length + "\r\n\r\n")
                .getBytes(UTF_8));
        socket.send(body);
    }

    /**
     * Checks that a client that reads its answers still gets answers. The server may refuse such calls until it has
     * closed the connections of the other clients, because the answers on these connections occupy memory until then.
     */
    private void assertOthersAreServed() {
        try (RawSocket good = RawSocket.connect(server.port(), 9)) {
            for (int i = 0; i < 20; i++) {
                Await.until("a call is answered", () -> isServed(good));
            }
        }
    }

    private boolean isServed(RawSocket good) {
        askByHttp1(good, "small");
        String head = head(good);
        String body = new String(good.readFully(contentLength(head)), UTF_8);
        if (head.startsWith("HTTP/1.1 429")) {
            return false;
        }
        assertThat(head).startsWith("HTTP/1.1 200");
        assertThat(body).isEqualTo("\"x\"");
        return true;
    }

    private static int contentLength(String head) {
        String name = "content-length: ";
        int start = head.indexOf(name) + name.length();
        return Integer.parseInt(head.substring(start, head.indexOf('\r', start)));
    }

    private static String head(RawSocket socket) {
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            head.append((char) socket.readFully(1)[0]);
        }
        return head.toString();
    }

    private void assertBounded() {
        Await.until("what is not read is given up", () -> unsent() <= MAX_BYTES / 2.0);
        assertOthersAreServed();
        assertThat(mostUnsent.get()).isLessThan(4 * MAX_BYTES);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void answersByHttp2ThatNobodyReadsAreGivenUp(boolean windows) {
        for (int i = 0; i < CONNECTIONS; i++) {
            askByHttp2(windows);
        }
        Await.until("much was asked for", () -> called.get() > 20);

        assertBounded();
    }

    @Test
    void manySmallUnreadAnswersByHttp2AreDropped() {
        Http2Wire wire = opened(Http2Wire.open(server.port()));
        wire.openWindow(0, 1 << 30);
        Await.until("it is known", () -> connections() == 1);
        for (int i = 0; i < PAGES && connections() > 0; i++) {
            int asked = i;
            try {
                wire.request(1 + 2 * i, PATH + "page", false);
                wire.message(1 + 2 * i, true, 0, StringValue.of("x").toByteArray());
            } catch (UncheckedIOException closed) {
                break;
            }
            Await.until("it is called or given up", () -> called.get() > asked || connections() == 0);
        }

        Await.until("the connection is closed", () -> connections() == 0);
        assertOthersAreServed();
    }

    @Test
    void unreadAnswersByHttp1AreDropped() {
        for (int i = 0; i < CONNECTIONS * CALLS; i++) {
            askByHttp1(opened(RawSocket.connect(server.port())), "large");
        }
        Await.until("much was asked for", () -> called.get() > 40);

        assertBounded();
    }

    @Test
    void answersThatAreReadAreNotDropped() {
        List<Http2Wire> wires = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Http2Wire wire = opened(Http2Wire.open(server.port()));
            wire.openWindow(0, 1 << 30);
            wire.frame(Http2Wire.SETTINGS, 0, 0, Http2Script.settings(Http2Script.INITIAL_WINDOW_SIZE, 1 << 30));
            wires.add(wire);
        }
        for (int i = 0; i < CALLS; i++) {
            for (Http2Wire wire : wires) {
                wire.request(1 + 2 * i, PATH + "large", false);
                wire.message(1 + 2 * i, true, 0, StringValue.of("x").toByteArray());
            }
            for (Http2Wire wire : wires) {
                assertThat(wire.answer(1 + 2 * i).header("grpc-status")).isEqualTo("0");
            }
        }
    }
}
