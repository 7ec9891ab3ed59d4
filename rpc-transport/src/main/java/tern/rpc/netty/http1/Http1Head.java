package tern.rpc.netty.http1;

import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import org.jspecify.annotations.Nullable;

/**
 * The request line and headers of an HTTP/1.x request.
 *
 * @param headers the request line and headers as HTTP/2 headers, without headers that concern only the connection
 * @param isHttp10 whether the client uses HTTP/1.0, which does not support chunked transfer encoding
 * @param saysKeepAlive whether the client explicitly asked for keep-alive
 * @param keepsAlive whether the client allows the connection to stay open after the answer
 * @param expectsContinue whether the client waits for 100 (Continue) before it sends the body
 * @param bodyBytes the length of the body, or {@link #CHUNKED}
 * @param upgrade the client's HTTP/2 settings if it asks for an upgrade; otherwise null
 */
public record Http1Head(
        Http2Headers headers,
        boolean isHttp10,
        boolean saysKeepAlive,
        boolean keepsAlive,
        boolean expectsContinue,
        long bodyBytes,
        @Nullable Http2Settings upgrade) {

    public static final long CHUNKED = -1;

    public boolean hasBody() {
        return bodyBytes != 0;
    }
}
