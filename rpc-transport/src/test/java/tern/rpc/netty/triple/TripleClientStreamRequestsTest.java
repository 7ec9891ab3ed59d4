package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static tern.rpc.netty.triple.RawStreams.OK;
import static tern.rpc.netty.triple.RawStreams.bytes;
import static tern.rpc.netty.triple.RawStreams.framed;
import static tern.rpc.netty.triple.RawStreams.method;
import static tern.rpc.netty.triple.RawStreams.ping;
import static tern.rpc.netty.triple.RawStreams.text;

import java.io.ByteArrayOutputStream;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.Metadata;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.netty.peer.Await;
import tern.rpc.netty.peer.RawServer;
import tern.rpc.netty.triple.Http2Script.Request;
import tern.rpc.netty.triple.Requests.Opened;
import tern.rpc.transport.ClientConnection;

/** Tests the requests of streams between Tern's client and a scripted server. */
@Timeout(60)
class TripleClientStreamRequestsTest {

    private final RawStreams streams = new RawStreams();
    private final Requests requests = streams.requests;
    private final RawServer server = streams.server;

    @AfterEach
    void close() {
        streams.close();
    }

    @Test
    void headersAreSentBeforeTheFirstRequest() {
        Opened opened = streams.open("both");
        opened.stream.request(5);
        Http2Script script = Http2Script.accept(server);
        Request request = script.begun();
        script.head(3, OK).data(3, framed("welcome"));

        opened.next(Metadata.class);
        assertThat(text(opened.next())).isEqualTo("welcome");
        opened.stream.send(bytes("a"));
        opened.stream.send(bytes("b"));
        opened.stream.end();
        assertThat(script.request()).isSameAs(request);
        ByteArrayOutputStream both = new ByteArrayOutputStream();
        both.writeBytes(framed("a"));
        both.writeBytes(framed("b"));
        assertThat(request.body.toByteArray()).isEqualTo(both.toByteArray());
        assertThat(request.header("grpc-encoding")).isEmpty();
        script.end(3, "grpc-status", "0");
        opened.next(Response.class);
    }

    @Test
    void requestsMayBeCompressed() {
        ClientConnection connection = requests.connect(server.endpoint());
        Opened opened = requests.open(connection, requests.call(method("up")).withCompression(true));
        opened.stream.send(bytes("x".repeat(1_000)));
        opened.stream.end();
        Http2Script script = Http2Script.accept(server);
        Request request = script.request();

        assertThat(request.header("grpc-encoding")).isEqualTo("gzip");
        assertThat(request.body.toByteArray()).hasSizeLessThan(100).startsWith(1);
    }

    @Test
    void eachRequestMayBeCompressedOrNotIfTheCallOffersIt() {
        ClientConnection connection = requests.connect(server.endpoint());
        Opened opened = requests.open(connection, requests.call(method("up")).withCompression(true));
        opened.stream.compress(false);
        opened.stream.send(bytes("plain"));
        opened.stream.compress(true);
        opened.stream.send(bytes("x".repeat(1_000)));
        opened.stream.end();
        Http2Script script = Http2Script.accept(server);
        Request request = script.request();

        byte[] plain = framed("plain");
        assertThat(request.header("grpc-encoding")).isEqualTo("gzip");
        assertThat(request.body.toByteArray()).startsWith(plain).hasSizeLessThan(plain.length + 100);
        assertThat(request.body.toByteArray()[plain.length]).isEqualTo((byte) 1);
    }

    @Test
    void requestsWaitUntilTheStreamIsOpen() {
        ClientConnection connection = requests.connect(server.endpoint());
        Opened first = requests.open(connection, requests.call(method("both")));
        Http2Script script = Http2Script.accept(server, Http2Script.MAX_CONCURRENT_STREAMS, 1);
        script.begun();
        Opened second = requests.open(connection, requests.call(method("up")));
        second.stream.send(bytes("a"));
        second.stream.end();
        second.stream.request(1);
        ping(script);

        script.end(3, ":status", "200", "content-type", "application/grpc", "grpc-status", "0");
        first.next(Response.class);
        Request request = script.request();
        script.answer(request.stream, bytes("sum"));

        assertThat(request.body.toByteArray()).isEqualTo(framed("a"));
        second.next(Metadata.class);
        assertThat(text(second.next())).isEqualTo("sum");
        second.next(Response.class);
        Await.until("all bytes have left", () -> connection.queuedBytes() == 0);
    }

    @Test
    void streamIsReadyAgainWhenTheServerTakesMore() {
        Opened opened = streams.open("both");
        Http2Script script = Http2Script.accept(server, Http2Script.INITIAL_WINDOW_SIZE, 0);
        script.begun();
        assertThat(opened.stream.isReady()).isTrue();

        opened.stream.send(new byte[20_000]);
        assertThat(opened.stream.isReady()).isTrue();
        opened.stream.send(new byte[20_000]);
        assertThat(opened.stream.isReady()).isFalse();
        ping(script);
        assertThat(opened.events).isEmpty();
        script.credit(3, 40_010);

        assertThat(opened.next()).isEqualTo("ready");
        assertThat(opened.stream.isReady()).isTrue();
    }

    /** Two open streams of one connection whose write queue is full above 50,000 bytes. */
    private List<Opened> openTwo() {
        ClientConnection connection =
                requests.connect(server.endpoint(), settings -> settings.withMaxQueuedBytes(50_000));
        return List.of(
                requests.open(connection, requests.call(method("both"))),
                requests.open(connection, requests.call(method("both"))));
    }

    @Test
    void streamWaitsWhileOtherStreamsFillTheQueue() {
        List<Opened> opened = openTwo();
        Http2Script script = Http2Script.accept(server, Http2Script.INITIAL_WINDOW_SIZE, 0);
        script.begun();
        script.begun();
        Opened second = opened.get(1);
        assertThat(second.stream.isReady()).isTrue();

        opened.get(0).stream.send(new byte[60_000]);
        assertThat(second.stream.isReady()).isFalse();
        ping(script);
        assertThat(second.events).isEmpty();
        script.credit(3, 60_005);

        assertThat(second.next()).isEqualTo("ready");
        assertThat(second.stream.isReady()).isTrue();
    }

    @Test
    void messageOfAStreamThatWasReadyIsQueuedBeyondTheLimit() {
        List<Opened> opened = openTwo();
        Http2Script script = Http2Script.accept(server, Http2Script.INITIAL_WINDOW_SIZE, 0);
        Request first = script.begun();
        Request second = script.begun();
        opened.get(0).stream.send(new byte[60_000]);

        opened.get(1).stream.send(new byte[40_000]);

        assertThatThrownBy(() -> opened.get(1).stream.send(new byte[1]))
                .hasMessageContaining("of 50000 bytes (set by rpc.limits.max-unsent)");
        script.credit(first.stream, 60_005);
        assertThat(opened.get(0).next()).isEqualTo("ready");
        assertThat(opened.get(1).next(RpcException.class).code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertThat(script.next(Http2Script.RST_STREAM).stream()).isEqualTo(second.stream);
    }

    @Test
    void writerThatIgnoresReadinessIsCutOff() {
        Opened opened = streams.open("both");
        Http2Script script = Http2Script.accept(server, Http2Script.INITIAL_WINDOW_SIZE, 0);
        script.begun();
        byte[] message = new byte[1 << 20];
        opened.stream.send(message);

        assertThatThrownBy(() -> opened.stream.send(message))
                .isInstanceOf(RpcException.class)
                .hasMessageContaining("RESOURCE_EXHAUSTED")
                .hasMessageContaining("send when the stream is ready");

        assertThat(opened.next(RpcException.class).code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertThat(script.next(Http2Script.RST_STREAM).stream()).isEqualTo(3);
        opened.stream.send(message); // the client drops the message, because the stream has ended
        assertThat(opened.stream.isReady()).isFalse();
    }

    @Test
    void unsendableMessageIsRefusedAndTheStreamContinues() {
        Opened opened = streams.open("both");
        Http2Script script = Http2Script.accept(server);
        Request request = script.begun();

        assertThatThrownBy(() -> opened.stream.send("text"))
                .isInstanceOf(RpcException.class)
                .hasMessageContaining("INTERNAL")
                .hasMessageContaining("java.lang.String");
        assertThatThrownBy(() -> opened.stream.send(new byte[9 << 20]))
                .hasMessageContaining("RESOURCE_EXHAUSTED")
                .hasMessageContaining("rpc.limits.max-request");
        opened.stream.send(bytes("fine"));
        opened.stream.end();

        script.request();
        assertThat(request.body.toByteArray()).isEqualTo(framed("fine"));
    }
}
