package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.DefaultHttp2Connection;
import io.netty.handler.codec.http2.DefaultHttp2ConnectionDecoder;
import io.netty.handler.codec.http2.DefaultHttp2ConnectionEncoder;
import io.netty.handler.codec.http2.DefaultHttp2FrameReader;
import io.netty.handler.codec.http2.DefaultHttp2FrameWriter;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2ConnectionHandlerBuilder;
import io.netty.handler.codec.http2.Http2FrameAdapter;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PacedFlowControllerTest {

    private static final int SETTINGS = 4;
    private static final int WINDOW_UPDATE = 8;
    private static final int STREAMS = 300;
    private static final String TEXT = "a text of 34 bytes for each stream";

    private final Http2ConnectionHandler codec = codec();
    private final FramesOfFlushes frames = new FramesOfFlushes();
    private final EmbeddedChannel channel = new EmbeddedChannel(frames, codec);
    private final ChannelHandlerContext context = channel.pipeline().context(codec);

    /** Counts the DATA frames of each flush, and keeps the data of each stream. */
    private static final class FramesOfFlushes extends ChannelOutboundHandlerAdapter {

        private final List<Integer> flushes = new ArrayList<>();
        private final Map<Integer, String> data = new HashMap<>();
        private final ByteBuf incomplete = Unpooled.buffer();
        private int frames;

        @Override
        public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
            ByteBuf bytes = (ByteBuf) message;
            incomplete.writeBytes(bytes);
            bytes.release();
            promise.setSuccess();
        }

        @Override
        public void flush(ChannelHandlerContext context) {
            if (incomplete.readableBytes() >= 3 && incomplete.getByte(0) == 'P') {
                incomplete.clear(); // the connection preface
            }
            while (incomplete.isReadable()) {
                int length = incomplete.readUnsignedMedium();
                int type = incomplete.readByte();
                incomplete.skipBytes(1);
                int stream = incomplete.readInt();
                String text = incomplete.readSlice(length).toString(StandardCharsets.US_ASCII);
                if (type == Http2Frames.DATA) {
                    frames++;
                    data.merge(stream, text, String::concat);
                }
            }
            flushes.add(frames);
            frames = 0;
        }

        private int all() {
            return flushes.stream().mapToInt(Integer::intValue).sum();
        }
    }

    private static Http2ConnectionHandler codec() {
        Http2Connection http2 = new DefaultHttp2Connection(false);
        http2.remote().flowController(new PacedFlowController(http2));
        DefaultHttp2ConnectionEncoder encoder = new DefaultHttp2ConnectionEncoder(http2, new DefaultHttp2FrameWriter());
        return new Http2ConnectionHandlerBuilder()
                .codec(new DefaultHttp2ConnectionDecoder(http2, encoder, new DefaultHttp2FrameReader()), encoder)
                .frameListener(new Http2FrameAdapter())
                .build();
    }

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    /** Opens streams whose data waits for a larger flow-control window. */
    private void writeTextOfEachStream() {
        channel.writeInbound(settings(0));
        for (int i = 0; i < STREAMS; i++) {
            int stream = 2 * i + 1;
            codec.encoder()
                    .writeHeaders(
                            context, stream, new DefaultHttp2Headers().path("/x"), 0, false, context.newPromise());
            ByteBuf text = Unpooled.copiedBuffer(TEXT, StandardCharsets.US_ASCII);
            codec.encoder().writeData(context, stream, text, 0, false, context.newPromise());
        }
        codec.flush(context);
        frames.flushes.clear();
    }

    /** Encodes SETTINGS frames, each of which sets the size of the initial flow-control window. */
    private static ByteBuf settings(int... windows) {
        ByteBuf bytes = Unpooled.buffer();
        for (int window : windows) {
            bytes.writeMedium(6).writeByte(SETTINGS).writeByte(0).writeInt(0);
            bytes.writeBytes(
                    ByteBuffer.allocate(6).putShort((short) 4).putInt(window).flip());
        }
        return bytes;
    }

    private static ByteBuf windowUpdates(int bytesForEachStream) {
        ByteBuf bytes = Unpooled.buffer();
        for (int i = 0; i < STREAMS; i++) {
            bytes.writeMedium(4).writeByte(WINDOW_UPDATE).writeByte(0).writeInt(2 * i + 1);
            bytes.writeInt(bytesForEachStream);
        }
        return bytes;
    }

    @Test
    void windowsThatSeveralSettingsEnlargeAreFilledOnce() {
        writeTextOfEachStream();

        channel.writeInbound(settings(1, 2, 3, 4, 5));

        assertThat(frames.all()).isEqualTo(STREAMS);
        assertThat(frames.data)
                .hasSize(STREAMS)
                .allSatisfy((stream, text) -> assertThat(text).isEqualTo(TEXT.substring(0, 5)));
    }

    @Test
    void oneFlushWritesFewFramesAndTheNextTaskContinues() {
        writeTextOfEachStream();

        channel.writeInbound(settings(1_000));

        assertThat(frames.flushes)
                .allSatisfy(written -> assertThat(written).isLessThanOrEqualTo(PacedFlowController.MAX_TURNS));
        assertThat(frames.data)
                .hasSize(STREAMS)
                .allSatisfy((stream, text) -> assertThat(text).isEqualTo(TEXT));
    }

    @Test
    void windowUpdatesOfManyStreamsAreFollowedByFewFramesInEachFlush() {
        writeTextOfEachStream();

        channel.writeInbound(windowUpdates(3));

        assertThat(frames.flushes)
                .allSatisfy(written -> assertThat(written).isLessThanOrEqualTo(PacedFlowController.MAX_TURNS));
        assertThat(frames.data)
                .hasSize(STREAMS)
                .allSatisfy((stream, text) -> assertThat(text).isEqualTo(TEXT.substring(0, 3)));
    }

    @Test
    void closedStreamLosesItsTurn() {
        writeTextOfEachStream();

        codec.resetStream(context, 1, 8, context.newPromise());
        channel.writeInbound(settings(1_000));

        assertThat(frames.data).hasSize(STREAMS - 1).doesNotContainKey(1);
    }
}
