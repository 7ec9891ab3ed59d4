package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.DefaultHttp2FrameReader;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameListener;
import io.netty.handler.codec.http2.Http2FrameTypes;
import io.netty.handler.codec.http2.Http2HeadersDecoder;
import org.jspecify.annotations.Nullable;

/**
 * A version of Netty's frame reader that records the type of the latest frame, because Netty's exceptions contain the
 * type only in their text. Confined to the event loop.
 */
final class TypedFrameReader extends DefaultHttp2FrameReader {

    /** The length of a frame header (RFC 9113, 4.1). */
    private static final int HEAD_BYTES = 9;

    private static final int TYPE = 3;
    private static final int FLAGS = 4;
    private static final int END_HEADERS = 0x4;

    private byte type = -1;
    private byte flags;
    private int payloadBytes;
    private int blockBytes; // the number of bytes of the incomplete header block; 0 if no header block is incomplete
    private int completed; // the number of complete frames so far, without the frames of the incomplete header block
    private @Nullable ResetFrames reset;
    // ignores the frames of refused streams; null until the final GOAWAY has been sent
    private @Nullable FramesAfterGoAway late;
    private boolean headRead; // true if the header of a frame has been read but its payload is incomplete

    TypedFrameReader(Http2HeadersDecoder headers, int maxContinuations) {
        super(headers, maxContinuations);
    }

    /** Drops the frames of streams that this side has reset (see {@link ResetFrames}). */
    void dropFramesOf(ResetFrames streams) {
        reset = streams;
    }

    /** From this point on, ignores the frames of refused streams (see {@link FramesAfterGoAway}). */
    void ignoreFramesOf(FramesAfterGoAway.Refused refused) {
        late = new FramesAfterGoAway(refused);
    }

    /** Returns whether the latest frame is a WINDOW_UPDATE. */
    boolean readsWindowUpdate() {
        return type == Http2FrameTypes.WINDOW_UPDATE;
    }

    /** Returns whether the latest frame is part of a header block. */
    boolean readsHeaders() {
        return type == Http2FrameTypes.HEADERS || type == Http2FrameTypes.CONTINUATION;
    }

    /**
     * Returns how many bytes of an incomplete header block have arrived in complete frames; 0 if no block is
     * incomplete.
     */
    int blockBytes() {
        return blockBytes;
    }

    /**
     * Returns the number of frames and header blocks that have been completed so far. The number can overflow, so only
     * its changes are meaningful.
     */
    int completed() {
        return completed;
    }

    private void frameComplete() {
        if (readsHeaders() && (flags & END_HEADERS) == 0) {
            blockBytes += payloadBytes;
        } else {
            blockBytes = 0;
            completed++;
        }
    }

    /**
     * Passes frames to Netty one at a time, so that an exception always belongs to the frame whose type has been
     * recorded.
     */
    @Override
    public void readFrame(ChannelHandlerContext context, ByteBuf input, Http2FrameListener netty)
            throws Http2Exception {
        Http2FrameListener known = reset == null ? netty : reset.passingTo(netty);
        Http2FrameListener listener = late == null ? known : late.passingTo(known);
        int end = input.writerIndex();
        do {
            int start = input.readerIndex();
            if (!headRead && end - start < HEAD_BYTES) {
                super.readFrame(context, input, listener); // if Netty throws an exception, it drops the remaining bytes
                return;
            }
            int payload = start;
            if (!headRead) {
                payloadBytes = input.getUnsignedMedium(start);
                type = input.getByte(start + TYPE);
                flags = input.getByte(start + FLAGS);
                payload += HEAD_BYTES;
            }
            boolean complete = end - payload >= payloadBytes;
            headRead = false;
            if (complete) {
                input.writerIndex(payload + payloadBytes);
                frameComplete();
            }
            try {
                super.readFrame(context, input, listener);
            } finally {
                input.writerIndex(end);
            }
            if (!complete) {
                headRead =
                        // Netty consumes the header of a frame as soon as the header is complete, and the payload as
                        // soon as the payload is complete.
                        input.readerIndex() == payload;
                return;
            }
        } while (input.isReadable());
    }
}
