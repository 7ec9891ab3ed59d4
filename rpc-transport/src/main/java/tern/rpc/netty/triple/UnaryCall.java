package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Stream;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.netty.Connection;
import tern.rpc.netty.triple.BodyReader.Frame;
import tern.rpc.transport.Answer;
import tern.rpc.transport.PendingCall;

/** A client's unary call. Confined to the event loop. */
final class UnaryCall extends ClientCall {

    private @Nullable Frame message;
    private boolean isRunningOneWay; // true while the server runs a one-way call; its answer is dropped

    UnaryCall(
            TripleCodecs codecs,
            PayloadCodec codec,
            PendingCall pending,
            Connection connection,
            RequestHead requestHead,
            AsciiString[] requestFields,
            byte @Nullable [] request) {
        super(codecs, codec, pending, connection, requestHead, requestFields, request);
        ask(2); // The call requests two messages, so that a second message, which is forbidden, is detected.
    }

    /** Returns a copy of this call for another connection, because the call was not sent on its first connection. */
    UnaryCall on(Connection other) {
        return new UnaryCall(codecs(), codec(), pending(), other, requestHead(), requestFields(), request());
    }

    @Override
    void head(Http2Headers headers) {
        // the headers are kept and decoded together with the answer
    }

    @Override
    void message(Frame frame) {
        if (message == null) {
            message = frame;
        } else {
            frame.payload().release();
            fail(StatusCode.INTERNAL, "its answer has more than one message", Executed.YES);
        }
    }

    @Override
    int heldBytes() {
        Frame whole = message;
        return whole == null ? 0 : whole.payload().readableBytes();
    }

    @Override
    void end(GrpcAnswer answer) {
        Frame whole = message;
        message = null;
        close();
        connection().answered(pending().id(), new TripleAnswer(codecs(), codec(), connection(), answer, whole));
    }

    @Override
    void endsLater(GrpcAnswer answer) {
        if (answer.isOk()) {
            fail(StatusCode.INTERNAL, "its answer ends in the middle of a message", Executed.YES);
        } else {
            end(answer);
        }
    }

    /**
     * Called when the socket has accepted the request. A one-way call is then complete, but its stream stays open until
     * the server has answered, because a reset would cancel the call on the server.
     */
    void requestTaken() {
        if (pending().isOneWay()) {
            Http2Stream opened = stream();
            if (opened != null && opened.state() != Http2Stream.State.CLOSED) {
                isRunningOneWay = true;
                connection().oneWayCalls().begins();
            }
            connection().answered(pending().id(), Answer.NOTHING);
        }
    }

    @Override
    boolean isUnheard() {
        return isRunningOneWay;
    }

    @Override
    void streamClosed() {
        if (isRunningOneWay) {
            isRunningOneWay = false;
            connection().oneWayCalls().ends();
        }
    }

    @Override
    void close() {
        super.close();
        Frame unread = message;
        message = null;
        if (unread != null) {
            unread.payload().release();
        }
    }
}
