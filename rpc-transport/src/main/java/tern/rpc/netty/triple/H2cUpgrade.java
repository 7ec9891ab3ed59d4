package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.http2.Http2Settings;
import org.jspecify.annotations.Nullable;
import tern.rpc.netty.FewBytes;
import tern.rpc.netty.InboundAccount;
import tern.rpc.netty.ServerConnection;
import tern.rpc.netty.http1.Http1Head;

/**
 * An HTTP/1.1 request that upgrades the connection to HTTP/2. The complete request becomes the first stream (RFC 7540,
 * 3.2). Confined to the event loop.
 */
final class H2cUpgrade {

    private final Http1Head request;
    private final Http2Settings settings;
    private ByteBuf body = Unpooled.EMPTY_BUFFER;

    H2cUpgrade(Http1Head request, Http2Settings settings) {
        this.request = request;
        this.settings = settings;
    }

    /** @param piece a piece of the body; this method releases it or keeps it for the upgrade */
    void add(ByteBuf piece, ChannelHandlerContext context) {
        body = ByteToMessageDecoder.MERGE_CUMULATOR.cumulate(context.alloc(), body, piece);
    }

    /** Returns how many bytes of the memory budget the received part of the body occupies. */
    int heldBytes() {
        return InboundAccount.counted(BodyReader.held(body));
    }

    void release() {
        body.release();
        body = Unpooled.EMPTY_BUFFER;
    }

    /**
     * Replaces this context's handler with the HTTP/2 handlers, after the request is complete.
     *
     * @param rest the bytes after the request, which belong to HTTP/2; this method passes them on or releases them
     * @return the HTTP/2 handler; null if the client has reset the connection
     */
    @Nullable
    Http2ServerHandler start(
            ChannelHandlerContext context, ServerConnection connection, HttpRequests requests, ByteBuf rest) {
        context.writeAndFlush(ByteBufUtil.writeAscii(
                context.alloc(), "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n"));
        if (!context.channel().isActive()) {
            // The client sent the request and then reset the connection, so the answer above was not sent. HTTP/2
            // cannot begin on a closed channel.
            release();
            rest.release();
            return null;
        }
        Http2ServerHandler http2 = Http2ServerHandlers.of(connection, requests);
        // the HTTP/2 handler adds its own instance of JoinedWrites, so the instance for HTTP/1.1 is removed
        context.pipeline().remove(JoinedWrites.class);
        context.pipeline().replace(context.handler(), null, http2);
        ByteBuf whole = body;
        body = Unpooled.EMPTY_BUFFER;
        ByteBuf few = FewBytes.takenFrom(rest);
        ByteBuf later = few == null ? rest : few;
        if (few != null) {
            rest.release(); // the few bytes would otherwise keep the buffer of the whole request allocated
        }
        try {
            http2.upgraded(settings, request.headers(), whole);
        } catch (Exception e) {
            later.release();
            http2.onError(http2.context(), false, e);
            return http2;
        }
        try {
            // A slice is passed, because a slice begins at index 0. If the bytes are not HTTP/2, Netty checks whether
            // they are HTTP/1.1, and this check supports only buffers that begin at index 0.
            http2.channelRead(http2.context(), later.slice());
        } catch (Exception e) {
            http2.onError(http2.context(), false, e);
        }
        return http2;
    }
}
