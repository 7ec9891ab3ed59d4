package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.DefaultHttp2Connection;
import io.netty.handler.codec.http2.DefaultHttp2FrameWriter;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2LocalFlowController;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2EventAdapter;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameListener;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Stream;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ResetFramesTest {

    private static final Http2Headers NONE = new DefaultHttp2Headers();

    private final EmbeddedChannel channel = new EmbeddedChannel(new ChannelInboundHandlerAdapter());
    private final ChannelHandlerContext context = channel.pipeline().lastContext();
    private final DefaultHttp2Connection connection = new DefaultHttp2Connection(true);
    private final DefaultHttp2LocalFlowController flow = new DefaultHttp2LocalFlowController(connection);
    private final List<String> passed = new ArrayList<>();
    private int dropped;
    private int droppedBytes;

    private final Http2FrameListener netty = new Http2EventAdapter() {
        @Override
        public int onDataRead(ChannelHandlerContext read, int streamId, ByteBuf data, int padding, boolean end) {
            passed.add("data " + streamId);
            return data.readableBytes() + padding;
        }

        @Override
        public void onHeadersRead(
                ChannelHandlerContext read, int streamId, Http2Headers headers, int padding, boolean end) {
            passed.add("headers " + streamId);
        }

        @Override
        public void onRstStreamRead(ChannelHandlerContext read, int streamId, long error) {
            passed.add("reset " + streamId);
        }
    };

    private Http2Stream reset;
    private Http2Stream open;

    @BeforeEach
    void open() throws Http2Exception {
        connection.local().flowController(flow.frameWriter(new DefaultHttp2FrameWriter()));
        flow.channelHandlerContext(context);
        reset = connection.remote().createStream(1, false);
        open = connection.remote().createStream(3, false);
        reset.resetSent();
    }

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    private void drop(int bytes) {
        dropped++;
        droppedBytes += bytes;
    }

    private void data(Http2FrameListener listener, int streamId, int bytes) throws Http2Exception {
        ByteBuf data = Unpooled.wrappedBuffer(new byte[bytes]);
        listener.onDataRead(context, streamId, data, 0, false);
        data.release();
    }

    @Test
    void framesOfAResetStreamAreDroppedAndCounted() throws Http2Exception {
        Http2FrameListener listener = new ResetFrames(connection, false, this::drop).passingTo(netty);

        data(listener, 1, 10);
        listener.onHeadersRead(context, 1, NONE, 0, true);
        listener.onHeadersRead(context, 1, NONE, 0, (short) 16, false, 0, true);
        data(listener, 3, 10);
        listener.onHeadersRead(context, 3, NONE, 0, true);

        assertThat(dropped).isEqualTo(3);
        assertThat(droppedBytes).isEqualTo(10);
        assertThat(passed).containsExactly("data 3", "headers 3");
        assertThat(open.state()).isEqualTo(Http2Stream.State.OPEN);
    }

    @Test
    void framesOfAResetStreamThatIsClosedAreDroppedAndCounted() throws Http2Exception {
        Http2FrameListener listener = new ResetFrames(connection, false, this::drop).passingTo(netty);
        reset.close();
        open.close();

        data(listener, 1, 60_000);
        listener.onHeadersRead(context, 1, NONE, 0, true);
        data(listener, 3, 10);

        assertThat(dropped).isEqualTo(2);
        assertThat(droppedBytes).isEqualTo(60_000);
        assertThat(passed).as("stream 3 has ended without a reset").containsExactly("data 3");
        assertThat(flow.windowSize(connection.connectionStream()))
                .isGreaterThan(Http2CodecUtil.DEFAULT_WINDOW_SIZE / 3);
    }

    @Test
    void lastResetStreamsAreRemembered() throws Http2Exception {
        Http2FrameListener listener = new ResetFrames(connection, false, this::drop).passingTo(netty);
        for (int id = 5; id < 5 + 2 * 300; id += 2) {
            connection.remote().createStream(id, false).resetSent().close();
        }

        for (int id = 5; id < 5 + 2 * 300; id += 2) {
            data(listener, id, 1);
        }

        assertThat(dropped).isEqualTo(256);
        assertThat(passed).hasSize(300 - 256).contains("data 5");
    }

    @Test
    void dataOfStreamsThatThePeerOpenedAfterGoAwayIsDroppedAndCounted() throws Http2Exception {
        Http2FrameListener listener = new ResetFrames(connection, false, this::drop).passingTo(netty);
        connection.goAwaySent(3, 0, Unpooled.EMPTY_BUFFER);

        data(listener, 5, 60_000);
        data(listener, 3, 10);

        assertThat(dropped).isEqualTo(1);
        assertThat(passed).containsExactly("data 3");
        assertThat(flow.windowSize(connection.connectionStream()))
                .isGreaterThan(Http2CodecUtil.DEFAULT_WINDOW_SIZE / 3);
    }

    @Test
    void droppedBytesAreReturnedToTheWindowOfTheConnection() throws Http2Exception {
        Http2FrameListener listener = new ResetFrames(connection, false, this::drop).passingTo(netty);

        for (int i = 0; i < 10; i++) {
            data(listener, 1, 60_000);
        }

        assertThat(dropped).isEqualTo(10);
        assertThat(flow.windowSize(connection.connectionStream()))
                .isGreaterThan(Http2CodecUtil.DEFAULT_WINDOW_SIZE / 3);
    }

    @Test
    void framesOfStreamsThatHaveEndedAreCountedWhereThePeerHasNoReasonToSendThem() throws Http2Exception {
        reset.close();
        Http2FrameListener ofClient = new ResetFrames(connection, true, this::drop).passingTo(netty);
        Http2FrameListener ofServer = new ResetFrames(connection, false, this::drop).passingTo(netty);

        ofServer.onRstStreamRead(context, 1, 8);
        assertThat(dropped).isZero();
        ofClient.onRstStreamRead(context, 1, 8);
        ofClient.onWindowUpdateRead(context, 1, 8);
        ofClient.onRstStreamRead(context, 3, 8);

        assertThat(dropped).isEqualTo(2);
        assertThat(passed).containsExactly("reset 1", "reset 1", "reset 3");
    }

    @Test
    void listenerIsKept() {
        ResetFrames frames = new ResetFrames(connection, true, this::drop);

        assertThat(frames.passingTo(netty)).isSameAs(frames.passingTo(netty));
    }
}
