package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2EventAdapter;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TypedFrameReaderTest {

    private static final byte[] PING = {0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8};
    private static final byte[] EMPTY_WINDOW_UPDATE = {0, 0, 4, 8, 0, 0, 0, 0, 3, 0, 0, 0, 0};
    private static final byte[] HEADERS = {0, 0, 1, 1, 0x5, 0, 0, 0, 5, (byte) 0x83};
    private static final byte[] OPEN_HEADERS = {0, 0, 1, 1, 0x1, 0, 0, 0, 7, (byte) 0x83};
    private static final byte[] CONTINUATION = {0, 0, 1, 9, 0x4, 0, 0, 0, 7, (byte) 0x86};
    private static final byte[] EMPTY_DATA = {0, 0, 0, 0, 0x1, 0, 0, 0, 5};

    private final EmbeddedChannel channel = new EmbeddedChannel(new ChannelInboundHandlerAdapter());
    private final TypedFrameReader reader = new TypedFrameReader(new DefaultHttp2HeadersDecoder(), 16);
    private final List<String> read = new ArrayList<>();

    @AfterEach
    void close() {
        reader.close();
        channel.close();
    }

    @Test
    void framesAreReadAndTypedAtEverySplit() {
        ByteBuf all = Unpooled.wrappedBuffer(
                PING, EMPTY_WINDOW_UPDATE, HEADERS, OPEN_HEADERS, CONTINUATION, EMPTY_DATA, PING);
        int length = all.readableBytes();
        List<String> expected = List.of(
                "ping other",
                "error on 3 window update",
                "headers of 5 headers",
                "headers of 7 headers",
                "data of 5 other",
                "ping other");

        for (int split = 0; split <= length; split++) {
            read.clear();
            ByteBuf input = Unpooled.buffer(length);
            input.writeBytes(all, 0, split);
            readAll(input);
            input.writeBytes(all, split, length - split);
            readAll(input);

            assertThat(read).as("split at %d", split).isEqualTo(expected);
            assertThat(input.readableBytes()).isZero();
        }
    }

    @Test
    void framesAreReadByteByByte() {
        ByteBuf all = Unpooled.wrappedBuffer(PING, EMPTY_WINDOW_UPDATE, EMPTY_DATA, HEADERS);
        ByteBuf input = Unpooled.buffer();

        while (all.isReadable()) {
            input.writeByte(all.readByte());
            readAll(input);
        }

        assertThat(read)
                .containsExactly("ping other", "error on 3 window update", "data of 5 other", "headers of 5 headers");
    }

    @Test
    void incompleteHeaderBlocksAreMeasured() {
        byte[] beginning = {0, 0, 3, 1, 0x1, 0, 0, 0, 7, (byte) 0x83, (byte) 0x86, (byte) 0x84};
        byte[] middle = {0, 0, 2, 9, 0, 0, 0, 0, 7, (byte) 0x90, (byte) 0x90};
        byte[] end = {0, 0, 1, 9, 0x4, 0, 0, 0, 7, (byte) 0x90};
        ByteBuf input = Unpooled.buffer();

        readAll(input.writeBytes(PING));
        assertThat(reader.blockBytes()).isZero();
        assertThat(reader.completed()).isEqualTo(1);
        readAll(input.writeBytes(beginning));
        assertThat(reader.blockBytes()).isEqualTo(3);
        readAll(input.writeBytes(middle).writeBytes(end, 0, 9));
        assertThat(reader.blockBytes()).isEqualTo(5);
        assertThat(reader.completed()).isEqualTo(1);
        readAll(input.writeBytes(end, 9, 1));

        assertThat(reader.blockBytes()).isZero();
        assertThat(reader.completed()).isEqualTo(2);
        assertThat(read).containsExactly("ping other", "headers of 7 headers");
    }

    @Test
    void bytesAfterAConnectionErrorAreDropped() {
        byte[] tooLong = {1, 0, 0, 0, 0, 0, 0, 0, 5};
        ByteBuf input = Unpooled.wrappedBuffer(tooLong, PING, PING);

        readAll(input);
        readAll(input);

        assertThat(read).containsExactly("connection error");
        assertThat(input.readableBytes()).isZero();
    }

    private void readAll(ByteBuf input) {
        int before;
        do {
            before = input.readableBytes();
            try {
                reader.readFrame(channel.pipeline().firstContext(), input, new Events());
            } catch (Http2Exception.StreamException e) {
                read.add("error on " + e.streamId() + ' ' + type());
            } catch (Http2Exception e) {
                read.add("connection error");
            }
        } while (input.isReadable() && input.readableBytes() < before);
    }

    private String type() {
        return reader.readsWindowUpdate() ? "window update" : reader.readsHeaders() ? "headers" : "other";
    }

    private final class Events extends Http2EventAdapter {

        @Override
        public void onPingRead(ChannelHandlerContext context, long data) {
            read.add("ping " + type());
        }

        @Override
        public void onHeadersRead(
                ChannelHandlerContext context, int streamId, Http2Headers headers, int padding, boolean end) {
            read.add("headers of " + streamId + ' ' + type());
        }

        @Override
        public int onDataRead(ChannelHandlerContext context, int streamId, ByteBuf data, int padding, boolean end) {
            read.add("data of " + streamId + ' ' + type());
            return data.readableBytes() + padding;
        }
    }
}
