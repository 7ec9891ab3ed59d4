package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.ssl.SslHandler;
import java.io.IOException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.Status;
import tern.rpc.netty.FewBytes;
import tern.rpc.netty.InboundAccount;
import tern.rpc.netty.ServerConnection;
import tern.rpc.netty.http1.Http1Body;
import tern.rpc.netty.http1.Http1Head;
import tern.rpc.netty.http1.Http1HeadReader;
import tern.rpc.netty.http1.Http1Violation;

/**
 * Handles the server side of an HTTP/1.x connection. Serves one request at a time. Pipelined requests stay in the
 * buffer until the previous answer is written, so that answers are sent in the order of the requests. Confined to the
 * event loop, except {@link #execute}.
 */
final class Http1ServerHandler extends ChannelInboundHandlerAdapter {

    private static final Logger LOG = LoggerFactory.getLogger(Http1ServerHandler.class);

    /**
     * The maximum number of bytes that are read in advance: body bytes that the call has not consumed, or pipelined
     * requests.
     */
    private static final int READ_AHEAD_BYTES = 64 << 10;

    private final ServerConnection connection;
    private final HttpRequests requests;
    private final Http1HeadReader heads = new Http1HeadReader();
    private final ArrivalClock clock;
    private @Nullable ChannelHandlerContext context;
    private ByteBuf unread = Unpooled.EMPTY_BUFFER;
    private @Nullable Http1Exchange exchange; // the request that is being served, with its answer
    private @Nullable H2cUpgrade upgrade; // the request that is being upgraded to HTTP/2; null if there is no upgrade
    private Http1Body body = new Http1Body(0); // the body of the current request
    private int held; // the number of body bytes that the call has not consumed
    private int countedWaiting; // the number of unread bytes that the memory budget counts as waiting for the server
    private int countedIncomplete; // the number of unread bytes that the memory budget counts as an incomplete request
    private boolean waitsForContinue; // true while the client waits for 100 (Continue) before it sends the body
    private boolean draining;
    // true if the following bytes are invalid, so the connection must be closed after the answer
    private boolean broken;
    private boolean closing; // true while the connection is being closed; received bytes are then dropped
    private boolean reading;

    Http1ServerHandler(ServerConnection connection, HttpRequests requests) {
        this.connection = connection;
        this.requests = requests;
        this.clock = new ArrivalClock(connection, this::tooSlow);
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
        context = added;
        added.pipeline().addBefore(added.name(), null, new JoinedWrites(bytes -> {}, connection.unread()::add));
    }

    ChannelHandlerContext context() {
        return Objects.requireNonNull(context);
    }

    /** Runs a task on the event loop, immediately if the calling thread is the event loop. */
    void execute(Runnable task) {
        if (context().executor().inEventLoop()) {
            task.run();
        } else {
            context().executor().execute(task);
        }
    }

    // ---- request input

    @Override
    public void channelRead(ChannelHandlerContext read, Object message) {
        connection.heard();
        ByteBuf bytes = (ByteBuf) message;
        if (closing) {
            bytes.release();
            return;
        }
        unread = ByteToMessageDecoder.MERGE_CUMULATOR.cumulate(read.alloc(), unread, bytes);
        readOn();
    }

    /** Processes the unread bytes until more bytes are needed or reading must wait. */
    private void readOn() {
        if (reading || closing) {
            return;
        }
        reading = true;
        try {
            while (!closing && !broken && readNext()) {
                // readNext(), which is a part of the condition, processes the bytes
            }
        } catch (Http1Violation e) {
            refuse(e);
        } finally {
            reading = false;
        }
        keepUnread();
        lookAtTime();
        connection.wantsBytes(closing || (held <= READ_AHEAD_BYTES && unread.readableBytes() <= READ_AHEAD_BYTES));
    }

    /** Releases the memory of bytes that have been processed, and counts the memory of the unread bytes. */
    private void keepUnread() {
        ByteBuf few = FewBytes.takenFrom(unread);
        if (few != null) {
            unread.release();
            unread = few;
        } else if (!unread.isReadable()) {
            unread.release();
            unread = Unpooled.EMPTY_BUFFER;
        } else if (unread.refCnt() == 1) { // a higher count means that a part of the body uses this buffer, too
            // discards the processed bytes, because the buffer never becomes empty if the client sends requests without
            // waiting for answers
            unread.discardSomeReadBytes();
        }
        count();
    }

    private void count() {
        H2cUpgrade upgrading = upgrade;
        int bytes = InboundAccount.counted(BodyReader.held(unread)) + (upgrading == null ? 0 : upgrading.heldBytes());
        // During a call, and while the client does not read its answers, the unread bytes wait for the server. At other
        // times, the unread bytes wait for more bytes from the client.
        int waiting = exchange == null && !connection.hasMuchUnsent() ? 0 : bytes;
        int incomplete = bytes - waiting;
        if (waiting != countedWaiting) {
            connection.memory().kept(waiting - countedWaiting);
            countedWaiting = waiting;
        }
        if (incomplete != countedIncomplete) {
            connection.memory().incomplete(incomplete - countedIncomplete);
            countedIncomplete = incomplete;
        }
    }

    /** Schedules the processing of more bytes after the current task. */
    private void readOnLater() {
        context().executor().execute(this::readOn);
    }

    /** @return whether bytes were processed; if so, the caller continues with the next bytes */
    private boolean readNext() {
        if (upgrade != null) {
            return readUpgrade(upgrade);
        }
        return exchange == null ? readHead() : readBody(exchange);
    }

    private boolean readHead() {
        if (connection.hasMuchUnsent()) {
            return false; // the server serves no other request until the peer has read some of its answers
        }
        Http1Head head = heads.read(unread);
        if (head == null) {
            return false;
        }
        clock.stop();
        body = new Http1Body(head.bodyBytes());
        held = 0;
        waitsForContinue = head.expectsContinue() && head.hasBody();
        Http2Settings settings = head.upgrade();
        if (settings != null && context().pipeline().get(SslHandler.class) == null) {
            upgrade = new H2cUpgrade(head, settings);
            sendContinue();
            return true;
        }
        Http1Exchange begun = new Http1Exchange(connection, head, this);
        exchange = begun;
        requests.begin(begun, false, null);
        if (body.isEnded()) {
            endRequest(begun);
        } else if (begun.call() != null) { // an answered request has no call, and its body is dropped
            sendContinue();
        }
        return true;
    }

    private void sendContinue() {
        if (waitsForContinue) {
            waitsForContinue = false;
            context().writeAndFlush(ByteBufUtil.writeAscii(context().alloc(), "HTTP/1.1 100 Continue\r\n\r\n"));
        }
    }

    private boolean readBody(Http1Exchange current) {
        if (body.isEnded() || held > READ_AHEAD_BYTES) {
            return false;
        }
        ByteBuf piece = body.read(unread);
        if (piece != null) {
            waitsForContinue = false;
            HttpExchange.Call call = current.call();
            if (call == null || current.isAnswered()) {
                piece.release();
            } else {
                held += piece.readableBytes();
                call.data(piece);
            }
        }
        if (body.isEnded()) {
            endRequest(current);
            return true;
        }
        return piece != null;
    }

    private void endRequest(Http1Exchange current) {
        HttpExchange.Call call = current.call();
        if (current.isAnswered()) {
            next();
        } else if (call != null) {
            call.end();
        }
    }

    private boolean readUpgrade(H2cUpgrade current) {
        ByteBuf piece = body.read(unread);
        if (piece != null) {
            current.add(piece, context());
        }
        if (body.isEnded()) {
            ByteBuf rest = unread;
            unread = Unpooled.EMPTY_BUFFER;
            upgrade = null;
            close();
            Http2ServerHandler http2 = current.start(context(), connection, requests, rest);
            if (http2 != null && draining) {
                http2.drain();
            }
        }
        return piece != null;
    }

    /** Called when the call has consumed bytes of its body. */
    void consumed(Http1Exchange of, int bytes) {
        if (of == exchange) {
            boolean full = held > READ_AHEAD_BYTES;
            held -= bytes;
            if (full && held <= READ_AHEAD_BYTES) {
                readOnLater();
            }
        }
    }

    // ---- answer output

    /**
     * Returns whether the connection must be closed after the answer. A draining server closes a connection only if the
     * answer's headers can still announce the close. Without this announcement, the client might have sent its next
     * request already, and this request would get no answer.
     *
     * @param headSent whether the headers of the answer have been sent, without this announcement
     * @param end whether the answer is complete
     */
    boolean mustClose(boolean headSent, boolean end) {
        return (draining && !headSent) || broken || (end && !isRestBearable());
    }

    /**
     * Returns whether the server reads and drops the rest of an answered request instead of closing the connection. Two
     * conditions must hold: at most {@link #READ_AHEAD_BYTES} bytes of the request are missing, and the client is not
     * waiting for 100 (Continue).
     */
    private boolean isRestBearable() {
        return body.isEnded() || (!waitsForContinue && body.endsWithin(READ_AHEAD_BYTES));
    }

    /** Called when a whole answer has been written. */
    void answered(Http1Exchange answered) {
        HttpExchange.Call call = answered.call();
        if (call != null) {
            call.closed();
        }
        if (answered.closes()) {
            close();
            connection.closeWhenWritten();
        } else if (!body.isEnded()) {
            readOnLater(); // the scheduled task reads and drops the rest of the body
        } else {
            next();
            if (unread.isReadable()) {
                readOnLater();
            }
        }
    }

    /**
     * Called when the peer has read a part of an answer. Processes the next request if the server has postponed it
     * because of unread answers.
     */
    void taken() {
        if (exchange == null && unread.isReadable()) {
            readOn();
        }
    }

    private void next() {
        exchange = null;
        clock.stop();
    }

    private void close() {
        closing = true;
        exchange = null;
        clock.stop();
        unread.release();
        unread = Unpooled.EMPTY_BUFFER;
        H2cUpgrade unfinished = upgrade;
        if (unfinished != null) {
            upgrade = null;
            unfinished.release();
        }
        count();
        connection.wantsBytes(true);
    }

    /**
     * Called when the rest of an answer cannot be sent. Closes the connection, which tells the peer that the answer is
     * incomplete.
     */
    void abandon(Http1Exchange of) {
        if (of == exchange) {
            context().close();
        }
    }

    private void refuse(Http1Violation violation) {
        Http1Exchange current = exchange;
        if (current != null && !current.isAnswered()) {
            broken = true;
            HttpExchange.Call call = current.call();
            if (call != null) {
                call.abort(new HttpRefusal(violation.status(), violation.getMessage()));
            }
            return;
        }
        if (current == null && violation.isHttp()) {
            // without a current exchange, the client is still waiting for an answer
            write(violation);
        }
        close();
        connection.violated(violation.getMessage());
    }

    private void write(Http1Violation violation) {
        HttpResponseStatus status = violation.status();
        byte[] text = ErrorBody.of(new Status(HttpRefusal.code(status), violation.getMessage()), status.code());
        ByteBuf answer = context().alloc().buffer();
        ByteBufUtil.writeAscii(
                answer,
                "HTTP/1.1 " + status.code() + ' ' + status.reasonPhrase()
                        + "\r\ncontent-type: application/json\r\nx-content-type-options: nosniff\r\ncontent-length: "
                        + text.length
                        + "\r\nconnection: close\r\n\r\n");
        answer.writeBytes(text);
        context().writeAndFlush(answer);
    }

    // ---- time limits

    private void lookAtTime() {
        Http1Exchange current = exchange;
        boolean arriving = current == null
                ? (unread.isReadable() && !connection.hasMuchUnsent()) || heads.hasBegun() || upgrade != null
                : current.isAnswered() && !body.isEnded();
        if (arriving && !closing) {
            clock.run(context());
        } else {
            clock.stop();
        }
    }

    private void tooSlow() {
        refuse(new Http1Violation(
                HttpResponseStatus.REQUEST_TIMEOUT,
                "a request did not come within "
                        + connection.settings().firstBytesTimeout().toMillis()
                        + " ms (set by rpc.limits.first-bytes-timeout)"));
    }

    // ---- connection events

    /** Closes the connection after the next answer. */
    void drain() {
        draining = true;
    }

    @Override
    public void channelInactive(ChannelHandlerContext inactive) {
        Http1Exchange current = exchange;
        close();
        HttpExchange.Call call = current == null ? null : current.call();
        if (call != null) {
            call.closed();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext failed, Throwable cause) {
        if (cause instanceof IOException) {
            LOG.debug("Closing {}", failed.channel(), cause);
        } else {
            connection.logClosing("a request could not be handled", cause);
        }
        failed.close();
    }
}
