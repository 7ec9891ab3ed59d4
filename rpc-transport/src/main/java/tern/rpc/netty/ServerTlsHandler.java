package tern.rpc.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.ssl.SslHandler;
import java.util.concurrent.Executor;
import javax.net.ssl.SSLEngine;
import org.jspecify.annotations.Nullable;

/**
 * Netty's TLS handler for a server. The handler also counts the bytes of an incomplete record. Confined to the event
 * loop.
 */
final class ServerTlsHandler extends SslHandler {

    private @Nullable IncompleteInput incomplete; // null if the bytes are not counted
    private int keptBytes; // number of bytes that were kept after the last read

    ServerTlsHandler(SSLEngine engine, Executor handshakes) {
        super(engine, handshakes);
    }

    /** Sets the object that counts the bytes of an incomplete record. Called before the first read. */
    void countIn(IncompleteInput input) {
        incomplete = input;
    }

    @Override
    public void channelRead(ChannelHandlerContext read, Object message) throws Exception {
        int bytes = keptBytes + (message instanceof ByteBuf received ? received.readableBytes() : 0);
        super.channelRead(read, message);
        keptBytes = actualReadableBytes();
        IncompleteInput input = incomplete;
        if (input == null) {
            return;
        }
        if (keptBytes > 0 && keptBytes < bytes) {
            input.complete();
        }
        boolean counts = InboundAccount.counted(keptBytes) > 0;
        input.arrived(read, keptBytes, counts ? internalBuffer().capacity() : 0);
    }
}
