package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.DefaultHttp2Connection;
import io.netty.handler.codec.http2.DefaultHttp2ConnectionDecoder;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Settings;
import tern.rpc.netty.ServerConnection;

/**
 * Creates the handlers of server connections with Tern's codec. This class does not use Netty's builder, which supports
 * neither Tern's header decoder nor an encoder that allocates its tables on demand (docs/decisions/0024).
 */
final class Http2ServerHandlers {

    /** The maximum number of CONTINUATION frames in a header block (docs/limits.md). */
    private static final int CONTINUATIONS = 16;

    private Http2ServerHandlers() {}

    static Http2ServerHandler of(ServerConnection connection, HttpRequests requests) {
        Http2Connection http2 = new DefaultHttp2Connection(true);
        // Stream priorities from clients are ignored, so all streams have equal priority.
        http2.remote().flowController(new PacedFlowController(http2));
        Http2Limits limits = new Http2Limits();
        Http2ConnectionEncoder encoder =
                new LimitedEncoder(http2, new CountedDataWriter(new LateHeadersEncoder(), limits));
        RememberedBlocks headers =
                new RememberedBlocks(Http2ServerHandlers::newHeadersDecoder, AnnouncedSettings.HEADER_LIST_BYTES);
        TypedFrameReader frames = new TypedFrameReader(headers, CONTINUATIONS);
        Http2ConnectionDecoder decoder = new DefaultHttp2ConnectionDecoder(http2, encoder, frames);
        Http2Settings settings = requests.announced().of(connection.settings().maxInFlight());
        return new Http2ServerHandler(decoder, encoder, settings, limits, headers, frames, connection, requests);
    }

    private static Http2HeadersDecoder newHeadersDecoder() {
        return new DefaultHttp2HeadersDecoder(true, AnnouncedSettings.HEADER_LIST_BYTES);
    }
}
