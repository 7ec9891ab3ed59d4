package tern.rpc.netty.triple;

import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Stream;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.netty.Connection;
import tern.rpc.netty.triple.BodyReader.Frame;
import tern.rpc.transport.Answer;
import tern.rpc.transport.ClientStream;
import tern.rpc.transport.PendingCall;

/** A call with any number of messages in one direction or both. Event loop only. */
final class StreamCall extends ClientCall {

    private static final Logger LOG = LoggerFactory.getLogger(StreamCall.class);

    private final TripleCodecs codecs;
    private final PayloadCodec payload;
    private final ClientStream.Receiver receiver;
    private final Queue<SendMessage> unsent = new ArrayDeque<>(); // until there is a stream
    private @Nullable Http2ClientHandler handler;
    private @Nullable GrpcAnswer ending;

    StreamCall(
            TripleCodecs codecs,
            PayloadCodec payload,
            ClientStream.Receiver receiver,
            PendingCall pending,
            Connection connection) {
        super(pending, connection);
        this.codecs = codecs;
        this.payload = payload;
        this.receiver = receiver;
    }

    // Requests

    void opened(Http2ClientHandler by, Http2Stream opened) {
        opened(opened);
        handler = by;
        for (SendMessage message = unsent.poll(); message != null; message = unsent.poll()) {
            send(message);
        }
    }

    /** Sends it, or keeps it until it can be sent. */
    void send(SendMessage message) {
        Http2Stream stream = stream();
        if (isOver()) {
            message.promise().trySuccess();
        } else if (stream == null || handler == null) {
            unsent.add(message);
        } else {
            handler.send(stream, message);
        }
    }

    // Answers

    @Override
    void head(Http2Headers headers) {
        Metadata metadata;
        try {
            metadata = TripleMetadata.read(headers);
        } catch (RpcException e) {
            fail(e.code(), "its answer cannot be read: " + e.status().description(), Executed.YES);
            return;
        }
        tell(() -> receiver.headers(metadata));
    }

    @Override
    void message(Frame frame) {
        tell(() -> receiver.message(new TripleMessage(codecs, payload, connection(), frame)));
    }

    /** Little waits to be sent again. */
    void ready() {
        if (!isOver()) {
            tell(receiver::ready);
        }
    }

    private void tell(Runnable event) {
        try {
            event.run();
        } catch (Throwable e) {
            LOG.warn("{}: who receives its messages failed", pending(), e);
            fail(StatusCode.INTERNAL, "who receives its messages failed: " + e, Executed.MAYBE);
        }
    }

    @Override
    int ask(int messages) {
        int credit = super.ask(messages);
        endIfAllIsTold();
        return credit;
    }

    @Override
    void end(GrpcAnswer answer) {
        if (isForeign() && answer.isOk()) {
            fail(
                    StatusCode.INTERNAL,
                    "its answer has content type " + answer.head().get(GrpcForm.CONTENT_TYPE),
                    Executed.YES);
            return;
        }
        close();
        connection().answered(pending().id(), new End(answer));
    }

    @Override
    boolean isAnswered() {
        return ending != null;
    }

    @Override
    void endsLater(GrpcAnswer answer) {
        ending = answer;
        pending().answerIsHere();
        endIfAllIsTold();
    }

    private void endIfAllIsTold() {
        GrpcAnswer answer = ending;
        if (answer == null || isOver()) {
            return;
        }
        if (isEverythingTold() || (isCutOff() && !answer.isOk())) {
            end(answer);
        } else if (isCutOff()) {
            fail(StatusCode.INTERNAL, "its answer ends in the middle of a message", Executed.YES);
        }
    }

    @Override
    void close() {
        super.close();
        for (SendMessage message = unsent.poll(); message != null; message = unsent.poll()) {
            message.promise().trySuccess();
        }
    }

    /** The end of the answers. */
    private record End(GrpcAnswer answer) implements Answer {

        @Override
        public Response decode(Invocation call) {
            RpcException failure = answer.failure();
            if (failure != null) {
                throw failure;
            }
            return new Response(null, answer.headers(), answer.trailers());
        }

        @Override
        public void discard() {
            // holds nothing
        }
    }

    /** Something that is sent on the stream, in order. */
    static final class SendMessage {

        private final byte @Nullable [] message;
        private final boolean end;
        private final ChannelPromise promise;

        /** @param promise done when it is with the socket, or is not sent at all */
        SendMessage(byte @Nullable [] message, boolean end, ChannelPromise promise) {
            this.message = message;
            this.end = end;
            this.promise = promise;
        }

        byte @Nullable [] message() {
            return message;
        }

        boolean isEnd() {
            return end;
        }

        ChannelPromise promise() {
            return promise;
        }
    }
}
