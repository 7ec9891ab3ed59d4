package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.DefaultHttp2Connection;
import io.netty.handler.codec.http2.DefaultHttp2FrameWriter;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2LifecycleManager;
import io.netty.handler.codec.http2.Http2Stream;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LimitedEncoderTest {

    private final List<Throwable> errors = new ArrayList<>();
    private final List<ChannelPromise> unsent = new ArrayList<>();
    private boolean reads;

    /** A channel to a client that can stop reading. The encoder writes to the context of this channel. */
    private final EmbeddedChannel channel = new EmbeddedChannel(
            new ChannelDuplexHandler() {
                @Override
                public void write(ChannelHandlerContext context, Object frame, ChannelPromise promise) {
                    ReferenceCountUtil.release(frame);
                    if (reads) {
                        promise.trySuccess();
                    } else {
                        unsent.add(promise);
                    }
                }
            },
            new ChannelDuplexHandler());

    private final ChannelHandlerContext context = channel.pipeline().lastContext();
    private final LimitedEncoder encoder =
            new LimitedEncoder(new DefaultHttp2Connection(true), new DefaultHttp2FrameWriter());

    @BeforeEach
    void connect() {
        encoder.lifecycleManager(new Resets());
    }

    @Test
    void clientThatReadsItsAcknowledgementsIsNotLimited() {
        reads = true;
        for (int i = 0; i < 3 * LimitedEncoder.MAX_UNSENT; i++) {
            encoder.writePing(context, true, i, context.newPromise());
            encoder.writeSettingsAck(context, context.newPromise());
        }

        assertThat(errors).isEmpty();
        assertThat(channel.isOpen()).isTrue();
    }

    @Test
    void clientThatDoesNotReadItsAcknowledgementsIsEnded() {
        for (int i = 0; i < LimitedEncoder.MAX_UNSENT; i++) {
            write(i);
        }
        assertThat(channel.isOpen()).isTrue();

        write(0);

        assertThat(errors).singleElement().satisfies(LimitedEncoderTest::isEnhanceYourCalm);
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void acknowledgementsThatWereReadMakeRoomForOthers() {
        for (int i = 0; i < LimitedEncoder.MAX_UNSENT; i++) {
            write(i);
        }
        List.copyOf(unsent.subList(0, 10)).forEach(ChannelPromise::trySuccess);

        for (int i = 0; i < 10; i++) {
            write(i);
        }

        assertThat(errors).isEmpty();
    }

    private void write(int number) {
        switch (number % 3) {
            case 0 -> encoder.writePing(context, true, number, context.newPromise());
            case 1 -> encoder.writeSettingsAck(context, context.newPromise());
            default -> encoder.writeRstStream(context, 1, Http2Error.CANCEL.code(), context.newPromise());
        }
    }

    @Test
    void pingsOfOurOwnDoNotCount() {
        for (int i = 0; i <= LimitedEncoder.MAX_UNSENT; i++) {
            encoder.writePing(context, false, i, context.newPromise());
        }

        assertThat(errors).isEmpty();
    }

    @Test
    void clientThatMakesTheServerResetTooManyStreamsIsEnded() {
        reads = true;
        for (int i = 0; i < Http2Limits.MAX_RESETS; i++) {
            encoder.writeRstStream(context, 1, Http2Error.PROTOCOL_ERROR.code(), context.newPromise());
            // a reset with CANCEL is not caused by the client, so the number of these resets is not limited
            encoder.writeRstStream(context, 1, Http2Error.CANCEL.code(), context.newPromise());
        }
        assertThat(errors).isEmpty();

        encoder.writeRstStream(context, 1, Http2Error.PROTOCOL_ERROR.code(), context.newPromise());

        assertThat(errors).singleElement().satisfies(LimitedEncoderTest::isEnhanceYourCalm);
        assertThat(channel.isOpen()).isFalse();
    }

    private static void isEnhanceYourCalm(Throwable error) {
        assertThat(error)
                .isInstanceOfSatisfying(
                        Http2Exception.class,
                        failure -> assertThat(failure.error()).isEqualTo(Http2Error.ENHANCE_YOUR_CALM));
    }

    /** Writes each reset to the encoder and records the errors. */
    private final class Resets implements Http2LifecycleManager {

        @Override
        public ChannelFuture resetStream(
                ChannelHandlerContext written, int streamId, long error, ChannelPromise promise) {
            return encoder.frameWriter().writeRstStream(written, streamId, error, promise);
        }

        @Override
        public void onError(ChannelHandlerContext failed, boolean outbound, Throwable cause) {
            errors.add(cause);
        }

        @Override
        public void closeStreamLocal(Http2Stream stream, ChannelFuture future) {
            throw new AssertionError();
        }

        @Override
        public void closeStreamRemote(Http2Stream stream, ChannelFuture future) {
            throw new AssertionError();
        }

        @Override
        public void closeStream(Http2Stream stream, ChannelFuture future) {
            throw new AssertionError();
        }

        @Override
        public ChannelFuture goAway(
                ChannelHandlerContext going, int lastStreamId, long error, ByteBuf debugData, ChannelPromise promise) {
            throw new AssertionError();
        }
    }
}
