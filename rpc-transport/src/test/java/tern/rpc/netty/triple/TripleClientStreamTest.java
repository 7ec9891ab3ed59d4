package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.netty.triple.RawStreams.OK;
import static tern.rpc.netty.triple.RawStreams.bytes;
import static tern.rpc.netty.triple.RawStreams.framed;
import static tern.rpc.netty.triple.RawStreams.method;
import static tern.rpc.netty.triple.RawStreams.ping;
import static tern.rpc.netty.triple.RawStreams.text;

import io.netty.handler.codec.http2.Http2Error;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.Metadata;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.netty.peer.RawServer;
import tern.rpc.netty.triple.Http2Script.Frame;
import tern.rpc.netty.triple.Http2Script.Request;
import tern.rpc.netty.triple.Requests.Opened;
import tern.rpc.transport.ClientConnection;
import tern.rpc.transport.UnsentCallException;

/** Tests the answers and the ends of streams between Tern's client and a scripted server. */
@Timeout(60)
class TripleClientStreamTest {

    private final RawStreams streams = new RawStreams();
    private final Requests requests = streams.requests;
    private final RawServer server = streams.server;

    @AfterEach
    void close() {
        streams.close();
    }

    @Test
    void answersAreDeliveredInOrderWithHeadersAndTrailers() {
        Opened opened = streams.open("down", (Object) bytes("x"));
        opened.stream.request(10);
        Http2Script script = Http2Script.accept(server);
        Request request = script.request();

        script.head(3, ":status", "200", "content-type", "application/grpc", "first", "1");
        script.data(3, framed("a")).data(3, framed("b"));
        script.end(3, "grpc-status", "0", "last", "2");

        assertThat(request.body.toByteArray()).isEqualTo(framed("x"));
        assertThat(opened.next(Metadata.class).get("first")).isEqualTo("1");
        assertThat(text(opened.next())).isEqualTo("a");
        assertThat(text(opened.next())).isEqualTo("b");
        Response end = opened.next(Response.class);
        assertThat(end.value()).isNull();
        assertThat(end.headers().get("first")).isEqualTo("1");
        assertThat(end.metadata().get("last")).isEqualTo("2");
    }

    @Test
    void onlyRequestedAnswersAreDelivered() {
        Opened opened = streams.open("down", (Object) bytes("x"));
        Http2Script script = Http2Script.accept(server);
        script.request();

        ByteArrayOutputStream three = new ByteArrayOutputStream();
        three.writeBytes(framed("a"));
        three.writeBytes(framed("b"));
        three.writeBytes(framed("c"));
        script.head(3, OK).data(3, three.toByteArray()).end(3, "grpc-status", "0");
        ping(script);

        opened.next(Metadata.class);
        assertThat(opened.events).isEmpty();
        opened.stream.request(2);
        assertThat(text(opened.next())).isEqualTo("a");
        assertThat(text(opened.next())).isEqualTo("b");
        ping(script);
        assertThat(opened.events).isEmpty();
        assertThat(opened.pending.isDone()).as("one answer is left").isFalse();
        opened.stream.request(1);
        assertThat(text(opened.next())).isEqualTo("c");
        opened.next(Response.class);
    }

    @Test
    void serverIsSlowedDownWhileNoAnswersAreRequested() {
        Opened opened = streams.open("down", (Object) bytes("x"));
        Http2Script script = Http2Script.accept(server);
        script.request();
        byte[] large = Http2Script.framed(0, new byte[(1 << 20) - 5]);
        script.head(3, OK).data(3, large); // the array is as large as the stream's flow-control window permits

        script.send(Http2Script.PING, 0, 0, new byte[8]);
        Frame next = script.next();
        while (next.type() == Http2Script.SETTINGS) {
            next = script.next();
        }
        assertThat(next.type()).as("no credit came before it").isEqualTo(Http2Script.PING);
        opened.stream.request(1);

        Frame credit = script.next(Http2Script.WINDOW_UPDATE);
        assertThat(credit.stream()).isEqualTo(3);
        assertThat(credit.payload()).isEqualTo(Http2Script.fourBytes(large.length));
        opened.next(Metadata.class);
        assertThat((byte[]) opened.next()).hasSize(large.length - 5);
    }

    @Test
    void messageLargerThanTheWindowArrivesAfterItsRequest() {
        Opened opened = streams.open("down", (Object) bytes("x"));
        opened.stream.request(1);
        Http2Script script = Http2Script.accept(server);
        script.request();
        byte[] large = Http2Script.framed(0, new byte[2 << 20]);
        script.head(3, OK);

        int window = 1 << 20;
        for (int sent = 0; sent < large.length; ) {
            int piece = Math.min(Math.min(16 << 10, large.length - sent), window);
            if (piece == 0) {
                Frame credit = script.next(Http2Script.WINDOW_UPDATE);
                window +=
                        credit.stream() == 3 ? ByteBuffer.wrap(credit.payload()).getInt() : 0;
            } else {
                script.send(Http2Script.DATA, 0, 3, Arrays.copyOfRange(large, sent, sent + piece));
                sent += piece;
                window -= piece;
            }
        }
        script.end(3, "grpc-status", "0");

        opened.next(Metadata.class);
        assertThat((byte[]) opened.next()).hasSize(2 << 20);
        opened.next(Response.class);
    }

    @Test
    void failureComesAfterTheAnswersBeforeIt() {
        Opened opened = streams.open("down", (Object) bytes("x"));
        Http2Script script = Http2Script.accept(server);
        script.request();
        script.head(3, OK).data(3, framed("a")).end(3, "grpc-status", "9", "grpc-message", "no more", "why", "x");
        ping(script);

        opened.stream.request(5);

        opened.next(Metadata.class);
        assertThat(text(opened.next())).isEqualTo("a");
        RpcException failure = opened.next(RpcException.class);
        assertThat(failure.code()).isEqualTo(StatusCode.FAILED_PRECONDITION);
        assertThat(failure.status().description()).isEqualTo("no more");
        assertThat(failure.metadata().get("why")).isEqualTo("x");
    }

    @Test
    void failureAtOnceHasNoHeaders() {
        Opened opened = streams.open("down", (Object) bytes("x"));
        Http2Script script = Http2Script.accept(server);
        script.request();

        script.end(3, ":status", "200", "content-type", "application/grpc", "grpc-status", "12");

        assertThat(opened.next(RpcException.class).code()).isEqualTo(StatusCode.UNIMPLEMENTED);
    }

    @Test
    void messageThatIsCutOffFailsTheStream() {
        Opened opened = streams.open("down", (Object) bytes("x"));
        opened.stream.request(5);
        Http2Script script = Http2Script.accept(server);
        script.request();

        script.head(3, OK)
                .data(3, framed("a"))
                .data(3, new byte[] {0, 0, 0, 0, 9, 1})
                .end(3, "grpc-status", "0");

        opened.next(Metadata.class);
        assertThat(text(opened.next())).isEqualTo("a");
        assertThat(opened.next(RpcException.class)).hasMessageContaining("in the middle of a message");
    }

    @Test
    void receiverThatThrowsFailsItsStreamAlone() {
        ClientConnection connection = requests.connect(server.endpoint());
        Opened broken = requests.open(connection, requests.call(method("both")));
        broken.failing = new IllegalStateException("on purpose");
        broken.stream.request(5);
        Opened other = requests.open(connection, requests.call(method("both")));
        other.stream.request(5);
        Http2Script script = Http2Script.accept(server);
        script.begun();
        script.begun();
        script.head(3, OK).data(3, framed("a")).head(5, OK).data(5, framed("b"));
        broken.next(Metadata.class);
        other.next(Metadata.class);

        RpcException failure = broken.next(RpcException.class);
        assertThat(failure.code()).isEqualTo(StatusCode.INTERNAL);
        assertThat(failure).hasMessageContaining("on purpose");
        assertThat(text(other.next())).isEqualTo("b");
        assertThat(script.next(Http2Script.RST_STREAM).stream()).isEqualTo(3);
        script.data(5, framed("c")).end(5, "grpc-status", "0");

        assertThat(text(other.next())).isEqualTo("c");
        other.next(Response.class);
    }

    // Stream ends

    @Test
    void failedCallResetsItsStream() {
        Opened opened = streams.open("both");
        Http2Script script = Http2Script.accept(server);
        script.begun();

        opened.pending.fail(RpcException.refusal(StatusCode.CANCELLED, "on purpose", Executed.MAYBE));

        Frame reset = script.next(Http2Script.RST_STREAM);
        assertThat(reset.payload()).isEqualTo(Http2Script.fourBytes((int) Http2Error.CANCEL.code()));
        assertThat(opened.next(RpcException.class)).hasMessageContaining("on purpose");
    }

    @Test
    void deadlineEndsAStream() {
        ClientConnection connection = requests.connect(server.endpoint());
        Opened opened = requests.open(connection, requests.call(method("both"), Duration.ofSeconds(2)));
        Http2Script script = Http2Script.accept(server);
        script.begun();

        assertThat(opened.next(RpcException.class).code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
        script.next(Http2Script.RST_STREAM);
    }

    @Test
    void serverThatAnswersEarlyGetsNoMoreRequests() {
        Opened opened = streams.open("both");
        Http2Script script = Http2Script.accept(server);
        script.begun();

        script.end(3, ":status", "200", "content-type", "application/grpc", "grpc-status", "8");

        assertThat(opened.next(RpcException.class).code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertThat(script.next(Http2Script.RST_STREAM).stream()).isEqualTo(3);
        opened.stream.send(bytes("late"));
        opened.stream.end();
        ping(script);
    }

    /**
     * Tests a stream that ends while some requests are waiting for the flow-control window. The answer must still be
     * delivered.
     */
    @Test
    void unrequestedAnswerSurvivesRequestsThatCannotBeSent() {
        Opened opened = streams.open("both");
        Http2Script script = Http2Script.accept(server, Http2Script.INITIAL_WINDOW_SIZE, 10);
        opened.stream.send(new byte[100]);
        script.next(Http2Script.DATA);

        script.head(3, OK).data(3, framed("a")).end(3, "grpc-status", "10", "grpc-message", "enough");
        ping(script);
        opened.stream.request(5);

        opened.next(Metadata.class);
        assertThat(text(opened.next(byte[].class))).isEqualTo("a");
        RpcException failure = opened.next(RpcException.class);
        assertThat(failure.code()).isEqualTo(StatusCode.ABORTED);
        assertThat(failure.status().description()).isEqualTo("enough");
    }

    /**
     * Tests that undelivered answers are released if a cancellation and a request for more messages occur together. The
     * leak check of this module detects answers that are not released.
     */
    @Test
    void undeliveredAnswersAreReleasedWhenACancelRacesWithARequest() {
        Opened opened = streams.open("down", (Object) bytes("x"));
        opened.stream.request(1);
        Http2Script script = Http2Script.accept(server);
        script.request();
        ByteArrayOutputStream three = new ByteArrayOutputStream();
        three.writeBytes(framed("a"));
        three.writeBytes(framed("b"));
        three.writeBytes(framed("c"));
        script.head(3, OK).data(3, three.toByteArray()).end(3, "grpc-status", "0");
        opened.next(Metadata.class);
        assertThat(text(opened.next())).isEqualTo("a");
        ping(script);

        requests.onEventLoop(
                // this task occupies the event loop, so the call ends before the event loop processes the request for
                // more messages
                handler -> {
                    opened.stream.request(1);
                    opened.pending.fail(RpcException.refusal(StatusCode.CANCELLED, "on purpose", Executed.MAYBE));
                });

        assertThat(opened.next(RpcException.class)).hasMessageContaining("on purpose");
    }

    @Test
    void resetByTheServerEndsTheStreamAtOnce() {
        Opened opened = streams.open("both");
        Http2Script script = Http2Script.accept(server);
        script.begun();
        script.head(3, OK).data(3, framed("unread"));
        opened.next(Metadata.class);

        script.reset(3, 8);

        assertThat(opened.next(RpcException.class).code()).isEqualTo(StatusCode.CANCELLED);
        ping(script); // the next frame is the acknowledgement, so the client did not answer the reset with a reset
    }

    @Test
    void lostConnectionEndsTheStream() {
        Opened opened = streams.open("both");
        Http2Script script = Http2Script.accept(server);
        script.begun();

        script.close();

        RpcException failure = opened.next(RpcException.class);
        assertThat(failure.code()).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.MAYBE);
        opened.stream.send(bytes("dropped"));
    }

    /** Opens a stream, sends its complete answer and closes the connection, without requesting any messages. */
    private Opened openedAndLost(Duration timeout) {
        Opened opened = requests.open(
                requests.connect(server.endpoint()), requests.call(method("down"), timeout, (Object) bytes("x")));
        Http2Script script = Http2Script.accept(server);
        script.request();
        script.head(3, OK).data(3, framed("a")).data(3, framed("b")).end(3, "grpc-status", "0", "last", "1");
        ping(script);
        opened.next(Metadata.class);
        script.close();
        server.next(); // the client reconnects as soon as it has noticed the lost connection
        return opened;
    }

    @Test
    void completeAnswerIsDeliveredAfterTheConnectionWasLost() {
        Opened opened = openedAndLost(Requests.LONG);

        opened.stream.request(1);
        assertThat(text(opened.next())).isEqualTo("a");
        opened.stream.request(1);

        assertThat(text(opened.next())).isEqualTo("b");
        assertThat(opened.next(Response.class).metadata().get("last")).isEqualTo("1");
    }

    @Test
    void unrequestedAnswerOfALostConnectionEndsAtItsDeadline() {
        Opened opened = openedAndLost(Duration.ofSeconds(5));

        assertThat(opened.next(RpcException.class).code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
    }

    @Test
    void closedClientDeliversNoAnswersOfLostConnections() {
        Opened opened = openedAndLost(Requests.LONG);

        requests.closeTransports();

        assertThat(opened.next(RpcException.class).code()).isEqualTo(StatusCode.UNAVAILABLE);
    }

    @Test
    void streamIsNotReadyWhileItWaitsForAFreeStream() {
        ClientConnection connection = requests.connect(server.endpoint());
        requests.open(connection, requests.call(method("both")));
        Http2Script script = Http2Script.accept(server, Http2Script.MAX_CONCURRENT_STREAMS, 1);
        script.begun();
        Opened waiting = requests.open(connection, requests.call(method("both")));
        assertThat(waiting.stream.isReady()).isFalse();

        script.head(3, OK).end(3, "grpc-status", "0");

        assertThat(waiting.next()).isEqualTo("ready");
        assertThat(waiting.stream.isReady()).isTrue();
    }

    /** The stream was ready when its message was sent, because the server had not announced its limit yet. */
    @Test
    void streamWithASentMessageKeepsItsConnection() {
        ClientConnection connection = requests.connect(server.endpoint());
        requests.open(connection, requests.call(method("both")));
        Opened waiting = requests.open(connection, requests.call(method("both")));
        waiting.stream.send(bytes("a"));
        Http2Script script = Http2Script.accept(server, Http2Script.MAX_CONCURRENT_STREAMS, 1);
        script.begun();
        Opened moved = requests.open(connection, requests.call(method("down"), (Object) bytes("b")));
        Http2Script.accept(server);
        moved.next(UnsentCallException.class);

        script.head(3, OK).end(3, "grpc-status", "0");

        assertThat(script.begun().stream).isEqualTo(5);
        assertThat(waiting.pending.isDone()).isFalse();
    }

    @Test
    void streamThatWaitsWhenTheServerGoesAwayWasNotSent() {
        ClientConnection connection = requests.connect(server.endpoint());
        requests.open(connection, requests.call(method("both")));
        Http2Script script = Http2Script.accept(server, Http2Script.MAX_CONCURRENT_STREAMS, 1);
        script.begun();
        Opened waiting = requests.open(connection, requests.call(method("both")));
        waiting.stream.send(bytes("a"));
        ping(script);

        script.goAway(3, "");

        UnsentCallException failure = waiting.next(UnsentCallException.class);
        assertThat(failure.code()).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
    }
}
