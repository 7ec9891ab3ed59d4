package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import org.jspecify.annotations.Nullable;

/**
 * The head of a request of HTTP/1.x.
 *
 * @param headers in the form of HTTP/2, without those that are about the connection
 * @param isHttp10 whether the client knows no chunks
 * @param saysKeepAlive whether the client asked for a connection that stays open, in words
 * @param keepsAlive whether the connection stays open unless the answer says otherwise
 * @param expectsContinue whether the client waits to be told that its body is wanted
 * @param bodyBytes {@link #CHUNKED} when the body says so itself
 * @param upgrade the client's settings of HTTP/2, if it wants to go on with that
 */
record Http1Head(
        Http2Headers headers,
        boolean isHttp10,
        boolean saysKeepAlive,
        boolean keepsAlive,
        boolean expectsContinue,
        long bodyBytes,
        @Nullable Http2Settings upgrade) {

    static final long CHUNKED = -1;

    boolean hasBody() {
        return bodyBytes != 0;
    }
}
