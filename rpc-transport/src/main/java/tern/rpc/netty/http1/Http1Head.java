package tern.rpc.netty.http1;

import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import org.jspecify.annotations.Nullable;

/**
 * The head of a request of HTTP/1.x.
 *
 * @param headers the headers in the form of HTTP/2, without those that concern the connection
 * @param isHttp10 whether the client does not support chunks
 * @param saysKeepAlive whether the client explicitly asked for keep-alive
 * @param keepsAlive whether the connection stays open unless the answer ends it
 * @param expectsContinue whether the client waits for 100 (Continue) before it sends the body
 * @param bodyBytes the length, or {@link #CHUNKED}
 * @param upgrade the client's settings of HTTP/2 for an upgrade, or null
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
