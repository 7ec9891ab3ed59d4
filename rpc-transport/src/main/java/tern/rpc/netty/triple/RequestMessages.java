package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2Stream;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Writes the messages of requests on an HTTP/2 connection. The small messages of a stream are gathered until the next
 * flush, which writes them as one frame. Confined to the event loop.
 */
final class RequestMessages implements StreamCall.Writer {

    private final Http2ConnectionEncoder encoder;
    private final JoinedWrites joined;
    private final Http2Limits limits;
    // the streaming calls whose gathered messages the next flush writes
    private final List<StreamCall> gathering = new ArrayList<>();
    private @Nullable ChannelHandlerContext context;
    private long unsentBytes;

    RequestMessages(Http2ConnectionEncoder encoder, JoinedWrites joined, Http2Limits limits) {
        this.encoder = encoder;
        this.joined = joined;
        this.limits = limits;
    }

    /** Called when the handler has been added to its channel. */
    void added(ChannelHandlerContext handler) {
        context = handler;
    }

    private ChannelHandlerContext context() {
        return Objects.requireNonNull(context);
    }

    /** Sends a message or the end of a stream. */
    @Override
    public void send(StreamCall call, Http2Stream stream, StreamCall.SendMessage sent) {
        byte[] message = sent.message();
        if (!stream.state().localSideOpen()) {
            call.gone(sent.bytes());
        } else if (message != null && !sent.end() && message.length <= GatheredMessages.MAX_BYTES) {
            gather(call, message, sent.bytes());
        } else {
            writeGathered(call);
            ChannelPromise promise = context().newPromise();
            promise.addListener(done -> call.gone(sent.bytes()));
            write(stream, message, sent.end(), promise);
        }
    }

    private void gather(StreamCall call, byte[] message, int counted) {
        GatheredMessages messages = call.gathered();
        if (!messages.hasRoomFor(message)) {
            writeGathered(call);
        }
        if (messages.isEmpty()) {
            gathering.add(call);
        }
        messages.add(message, counted);
    }

    private void writeGathered(StreamCall call) {
        GatheredMessages messages = call.gathered();
        Http2Stream stream = call.stream();
        if (messages.isEmpty() || stream == null) {
            return;
        }
        int counted = messages.countedBytes();
        if (!stream.state().localSideOpen()) {
            messages.clear();
            call.gone(counted);
            return;
        }
        unsentBytes += counted;
        messages.write(context(), encoder, stream, joined).addListener(done -> {
            unsentBytes -= counted;
            limits.moved();
            call.gone(counted);
        });
    }

    /** Writes the gathered messages. The caller then flushes the channel. */
    void writeGathered() {
        for (int i = 0; i < gathering.size(); i++) {
            writeGathered(gathering.get(i));
        }
        gathering.clear();
    }

    /** Writes a message, or only the end of a stream if the message is null. */
    void write(Http2Stream stream, byte @Nullable [] message, boolean end, ChannelPromise promise) {
        ByteBuf data = message == null ? Unpooled.EMPTY_BUFFER : Unpooled.wrappedBuffer(message);
        int bytes = data.readableBytes();
        unsentBytes += bytes;
        promise.addListener(done -> {
            unsentBytes -= bytes;
            limits.moved();
        });
        encoder.writeData(context(), stream.id(), data, 0, end, promise);
    }

    /** Returns whether messages are waiting for the flow-control window or for the socket. */
    boolean areUnsent() {
        return unsentBytes > 0;
    }
}
