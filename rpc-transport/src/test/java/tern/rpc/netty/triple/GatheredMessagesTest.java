package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2ConnectionHandlerBuilder;
import io.netty.handler.codec.http2.Http2FrameAdapter;
import io.netty.handler.codec.http2.Http2Stream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class GatheredMessagesTest {

    private static final int DEFAULT_WINDOW_BYTES = 65_535;

    private final JoinedWrites joined = new JoinedWrites();
    private final Http2ConnectionHandler codec = new Http2ConnectionHandlerBuilder()
            .server(false)
            .frameListener(new Http2FrameAdapter())
            .build();
    private final EmbeddedChannel channel = new EmbeddedChannel(joined, codec);
    private final ChannelHandlerContext context = channel.pipeline().context(codec);
    private final GatheredMessages messages = new GatheredMessages();
    private Http2Stream stream;

    /** One DATA frame with its stream and its content. */
    private record Data(int streamId, String text) {}

    @BeforeEach
    void openStream() {
        stream = open(3);
    }

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    private Http2Stream open(int id) {
        codec.encoder().writeHeaders(context, id, new DefaultHttp2Headers().path("/x"), 0, false, context.newPromise());
        codec.flush(context);
        sent();
        Http2Connection connection = codec.connection();
        return connection.stream(id);
    }

    private void add(String text) {
        messages.add(text.getBytes(StandardCharsets.US_ASCII), text.length());
    }

    private ChannelFuture write() {
        return messages.write(context, codec.encoder(), stream, joined);
    }

    /** Returns the DATA frames sent since the last call to this method. */
    private List<Data> sent() {
        List<Data> frames = new ArrayList<>();
        ByteBuf all = Unpooled.buffer();
        for (ByteBuf part = channel.readOutbound(); part != null; part = channel.readOutbound()) {
            all.writeBytes(part);
            part.release();
        }
        while (all.readableBytes() >= Http2Frames.HEAD_BYTES) {
            int length = all.readUnsignedMedium();
            if (length > all.readableBytes()) {
                return frames; // the bytes are the connection preface, which contains no frame
            }
            int type = all.readByte();
            all.skipBytes(1);
            int id = all.readInt();
            ByteBuf payload = all.readSlice(length);
            if (type == Http2Frames.DATA) {
                frames.add(new Data(id, payload.toString(StandardCharsets.US_ASCII)));
            }
        }
        return frames;
    }

    @Test
    void messagesLeaveInOneFrame() {
        add("one ");
        add("two ");
        add("three");

        ChannelFuture taken = write();

        assertThat(messages.isEmpty()).isTrue();
        assertThat(taken.isDone()).as("taken before the flush").isFalse();
        codec.flush(context);
        assertThat(sent()).containsExactly(new Data(3, "one two three"));
        assertThat(taken.isSuccess()).isTrue();
    }

    @Test
    void bytesAreTakenFromBothWindows() throws Exception {
        add("x".repeat(1_000));

        write();

        assertThat(codec.encoder().flowController().windowSize(stream)).isEqualTo(DEFAULT_WINDOW_BYTES - 1_000);
        assertThat(codec.encoder()
                        .flowController()
                        .windowSize(codec.connection().connectionStream()))
                .isEqualTo(DEFAULT_WINDOW_BYTES - 1_000);
    }

    @Test
    void messagesWaitForTheWindowAndKeepTheirOrder() throws Exception {
        codec.encoder().flowController().incrementWindowSize(stream, 4 - DEFAULT_WINDOW_BYTES);
        add("abcdef");
        ChannelFuture first = write();
        add("g");
        // the second message must wait until the first message has been sent, although the flow-control window has room
        // for the second message
        ChannelFuture second = write();
        codec.flush(context);

        assertThat(sent()).containsExactly(new Data(3, "abcd"));
        assertThat(first.isDone()).isFalse();

        codec.encoder().flowController().incrementWindowSize(stream, 100);
        codec.flush(context);
        assertThat(String.join("", sent().stream().map(Data::text).toList())).isEqualTo("efg");
        assertThat(first.isSuccess()).isTrue();
        assertThat(second.isSuccess()).isTrue();
    }

    @Test
    void messagesAreGatheredUpToOneFrame() {
        byte[] large = new byte[GatheredMessages.MAX_BYTES - 1];

        assertThat(messages.hasRoomFor(large)).isTrue();
        messages.add(large, large.length);
        assertThat(messages.hasRoomFor(new byte[1])).isTrue();
        assertThat(messages.hasRoomFor(new byte[2])).isFalse();
        assertThat(messages.countedBytes()).isEqualTo(large.length);
    }

    @Test
    void framesOfSeveralStreamsFollowOneAnother() {
        add("a");
        write();
        stream = open(5);
        add("b");
        write();
        codec.flush(context);

        assertThat(sent()).contains(new Data(5, "b"));
    }

    @Test
    void promiseFailsWithTheConnection() {
        add("lost");
        ChannelFuture taken = write();

        channel.close();

        assertThat(taken.isDone()).isTrue();
    }
}
