package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.AbstractHttp2ConnectionHandlerBuilder;
import io.netty.handler.codec.http2.DefaultHttp2Connection;
import io.netty.handler.codec.http2.DefaultHttp2ConnectionDecoder;
import io.netty.handler.codec.http2.DefaultHttp2FrameWriter;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2EventAdapter;
import io.netty.handler.codec.http2.Http2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Settings;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tern.rpc.netty.Connection;

/** Creates the handler of a client connection with Tern's codec and settings. */
final class Http2ClientHandlerBuilder
        extends AbstractHttp2ConnectionHandlerBuilder<Http2ClientHandler, Http2ClientHandlerBuilder> {

    /** The maximum size of an answer's headers in bytes, as docs/wire-protocol.md 3.1 specifies. */
    private static final int HEADER_LIST_BYTES = 32 << 10;

    /**
     * The maximum number of consecutive empty DATA frames (docs/limits.md). If the server sends more, the client closes
     * the connection.
     */
    private static final int EMPTY_DATA_FRAMES = 2;

    private static final int CONTINUATIONS = 16;

    /**
     * The settings that the client sends. All connections share one immutable object, because Netty keeps a reference
     * to it for each connection.
     */
    private static final Http2Settings SETTINGS = new Http2Settings()
            .pushEnabled(false)
            .initialWindowSize(ReceiveWindows.STREAM_BYTES)
            .maxHeaderListSize(HEADER_LIST_BYTES);

    private final Connection connection;
    private final HeaderTable table = new HeaderTable();
    private @Nullable TypedFrameReader frames;

    Http2ClientHandlerBuilder(Connection connection) {
        this.connection = connection;
    }

    /**
     * Returns false. Netty assumes that a handler with a custom codec is a server, and would close the connection
     * after 200 resets.
     */
    @Override
    protected boolean isServer() {
        return false;
    }

    @Override
    protected Http2ClientHandler build() {
        Http2Connection http2 = new DefaultHttp2Connection(false);
        http2.remote().flowController(new PacedFlowController(http2));
        Http2ConnectionEncoder encoder = new LimitedEncoder(http2, new DefaultHttp2FrameWriter(table));
        Http2HeadersDecoder headers =
                new RememberedBlocks(Http2ClientHandlerBuilder::newHeadersDecoder, HEADER_LIST_BYTES);
        // Netty's builder requires that the limit on empty DATA frames is set before codec() is called
        decoderEnforceMaxConsecutiveEmptyDataFrames(EMPTY_DATA_FRAMES);
        frames = new TypedFrameReader(headers, CONTINUATIONS);
        codec(new DefaultHttp2ConnectionDecoder(http2, encoder, frames), encoder);
        // Netty requires a listener; this empty listener is replaced when the handler has been created
        frameListener(new Http2EventAdapter() {});
        initialSettings(SETTINGS);
        return super.build();
    }

    /**
     * Creates a decoder that does not validate header values, because Dubbo's providers send strings without
     * percent-encoding.
     */
    private static Http2HeadersDecoder newHeadersDecoder() {
        return new DefaultHttp2HeadersDecoder(true, false, HEADER_LIST_BYTES);
    }

    @Override
    protected Http2ClientHandler build(
            Http2ConnectionDecoder decoder, Http2ConnectionEncoder encoder, Http2Settings settings) {
        return new Http2ClientHandler(decoder, encoder, settings, connection, table, Objects.requireNonNull(frames));
    }
}
