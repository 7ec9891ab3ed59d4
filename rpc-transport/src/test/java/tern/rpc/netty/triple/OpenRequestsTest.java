package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.StringValue;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tern.rpc.metrics.RpcMeter;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.Slo;
import tern.rpc.netty.peer.Await;
import tern.rpc.netty.peer.RawSocket;
import tern.rpc.netty.triple.Http2Wire.Answer;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/**
 * Tests that all memory occupied by an open request counts towards the memory budgets, even if each part of the request
 * is small.
 */
@Timeout(120)
class OpenRequestsTest {

    private static final String WORDS = "/" + Words.class.getName() + "/";
    private static final int MESSAGE_LIMIT = 1 << 20;
    private static final int INBOUND = 4 << 20;
    private static final int STREAMS = 200;

    /** A number of requests that fit into the buffers of a socket, so that their sender need not wait. */
    private static final int FEW = 24;

    /** A message size slightly below 4 KiB, the size from which messages count towards the budgets immediately. */
    private static final int SMALL = 4_000;

    private static final byte[] MESSAGE =
            Http2Script.framed(0, StringValue.of("x".repeat(SMALL - 8)).toByteArray());

    /** The state of an incomplete request: which parts of it have arrived. */
    enum Open {
        WHOLE_MESSAGE("application/grpc", "write", MESSAGE.length),
        PART_OF_A_MESSAGE("application/grpc", "write", MESSAGE.length - 10),
        PART_OF_A_STREAM("application/grpc", "join", MESSAGE.length - 10),
        GRPC_WEB("application/grpc-web+proto", "write", MESSAGE.length - 10),
        CONNECT("application/proto", "write", MESSAGE.length - 10),
        CONNECT_STREAM("application/connect+proto", "join", MESSAGE.length - 10),
        JSON("application/json", "write", MESSAGE.length - 10);

        private final String type;
        private final String method;
        private final int bytes;

        Open(String type, String method, int bytes) {
            this.type = type;
            this.method = method;
            this.bytes = bytes;
        }

        void send(Http2Wire wire, int stream) {
            Http2Headers head = new DefaultHttp2Headers(false)
                    .method("POST")
                    .scheme("http")
                    .path(WORDS + method)
                    .authority("localhost")
                    .set("content-type", type)
                    .set("te", "trailers");
            if (this == CONNECT || this == CONNECT_STREAM) {
                head.set("connect-protocol-version", "1");
            }
            wire.frame(Http2Wire.HEADERS, Http2Wire.END_HEADERS, stream, Http2Wire.block(head));
            wire.frame(Http2Wire.DATA, 0, stream, Arrays.copyOf(MESSAGE, bytes));
        }
    }

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final TripleSides sides = new TripleSides();
    private final List<AutoCloseable> open = new ArrayList<>();
    private final RpcServer server = sides.serve(
            limits -> limits.withMaxMessageBytes(MESSAGE_LIMIT)
                    .withFirstBytesTimeout(Duration.ofSeconds(2))
                    .withMaxInboundBytes(INBOUND),
            settings -> settings.meters(new RpcMeters(registry, Slo.DEFAULT))
                    .export(ServiceExport.of(Words.class, new WordsServer())));

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
        Await.until("nothing is held", () -> held() == 0);
        sides.close();
    }

    private double held() {
        return registry.get(RpcMeter.SERVER_INBOUND.key()).gauge().value();
    }

    private Http2Wire connect() {
        Http2Wire wire = Http2Wire.open(server.port());
        open.add(wire);
        return wire;
    }

    private static void assertServed(Http2Wire wire, int stream, String... headers) {
        wire.request(stream, WORDS + "shout", false, headers);
        wire.message(stream, true, 0, StringValue.of("hello").toByteArray());
        assertThat(wire.answer(stream).header("grpc-status")).isEqualTo("0");
    }

    @ParameterizedTest
    @EnumSource
    void smallPartsOfRequestsThatStayOpenCount(Open request) {
        Http2Wire wire = connect();
        for (int i = 0; i < STREAMS; i++) {
            request.send(wire, 1 + 2 * i);
        }

        Await.until("all of it counts", () -> held() >= STREAMS * (SMALL - 20.0));

        assertServed(connect(), 1);
    }

    @Test
    void smallPartsByHttp1Count() {
        for (int i = 0; i < 20; i++) {
            RawSocket socket = RawSocket.connect(server.port());
            open.add(socket::close);
            socket.send(("POST " + WORDS + "write HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
                            + "content-length: 5000\r\n\r\n\"" + "x".repeat(SMALL))
                    .getBytes(US_ASCII));
        }

        Await.until("all of it counts", () -> held() >= 20.0 * SMALL);
    }

    @Test
    void connectionIsReadNoMoreAfterItsSmallPartsCountIfTheBudgetIsUsedUp() {
        send(connect(), 0, 1);
        Await.until("the first request counts", () -> held() > SMALL);
        double each = held();
        // One connection uses up the share of its address, which is half of the budget. The connection may exceed this
        // share to complete its message.
        int first = 2 + (int) (INBOUND / 2 / each);
        send(connect(), 0, first);
        Await.until("the part of the address is used up", () -> held() > (first + 0.5) * each);

        Http2Wire second = connect();
        send(second, 0, FEW);
        Await.until("a request of the second connection counts", () -> held() > (first + 1.5) * each);
        send(second, FEW, 2 * FEW);
        double before = held();
        send(connect(), 0, 6);

        Await.until("later requests of another connection count", () -> held() > before + 5.5 * each);
        assertThat(held()).isLessThan((1 + first + FEW + 6 + 0.5) * each);
        assertServed(connect(), 1);
    }

    private static void send(Http2Wire wire, int from, int to) {
        for (int i = from; i < to; i++) {
            Open.WHOLE_MESSAGE.send(wire, 1 + 2 * i);
        }
    }

    @Test
    void largeHeadersOfOpenRequestsAreRefusedBeyondTheirBudgetAndOthersAreServed() {
        String value = "v".repeat(7_000);
        Http2Wire greedy = connect();
        for (int i = 0; i < STREAMS; i++) {
            greedy.request(1 + 2 * i, WORDS + "write", false, "a", value, "b", value);
        }
        int last = 2 * STREAMS - 1;

        Answer refused = greedy.answer(last);

        assertThat(refused.header("grpc-status")).isEqualTo("8");
        assertThat(refused.header("grpc-message"))
                .contains("of 1048576 bytes")
                .contains("a quarter of rpc.limits.max-inbound-bytes");
        assertThat(refused.header("tern-executed")).isEqualTo("no");
        assertThat(held()).isLessThan(2.0 * (1 << 20));
        assertServed(connect(), 1);
        assertServed(connect(), 1, "a", value);
    }

    @Test
    void headersOfRequestsThatAreOverCountNoMore() {
        String value = "v".repeat(7_000);
        Http2Wire wire = connect();
        for (int i = 0; i < 500; i++) {
            assertServed(wire, 1 + 2 * i, "a", value);
        }

        Await.until("nothing is held", () -> held() == 0);
    }
}
