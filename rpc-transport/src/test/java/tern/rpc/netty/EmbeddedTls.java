package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.ssl.SslHandler;
import java.nio.ByteBuffer;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;

/** A TLS connection without sockets: a channel with one of Tern's handlers, and a peer that uses Java's TLS engine. */
final class EmbeddedTls implements AutoCloseable {

    final EmbeddedChannel channel = new EmbeddedChannel();
    private final SSLEngine peer;
    private final ByteBuffer toPeer = ByteBuffer.allocate(1 << 18).flip();
    private long received; // the number of bytes of application data that the channel has received

    EmbeddedTls(SSLEngine peer) {
        this.peer = peer;
    }

    /** Adds the TLS handler to the channel. */
    void add(SslHandler handler) {
        channel.pipeline().addLast(handler);
        channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext read, Object message) {
                ByteBuf data = (ByteBuf) message;
                received += data.readableBytes();
                data.release();
            }

            @Override
            public void exceptionCaught(ChannelHandlerContext failed, Throwable cause) {
                failed.close();
            }
        });
    }

    /** Completes the handshake. */
    void connect(String version) throws SSLException {
        peer.beginHandshake();
        exchange();
        assertThat(peer.getSession().getProtocol()).isEqualTo(version);
        assertThat(peer.getHandshakeStatus()).isEqualTo(HandshakeStatus.NOT_HANDSHAKING);
    }

    /** Lets the peer send its first message of a handshake. */
    void begin() throws SSLException {
        peer.beginHandshake();
        send(new byte[0]);
    }

    /** Lets the peer change its keys, or begin another handshake with TLS 1.2. */
    void changeKeys() throws SSLException {
        peer.beginHandshake();
        exchange();
    }

    /** Passes on the records of both sides until neither side has another record. */
    private void exchange() throws SSLException {
        boolean moved = true;
        while (moved) {
            moved = false;
            for (Runnable task = peer.getDelegatedTask(); task != null; task = peer.getDelegatedTask()) {
                task.run();
            }
            if (peer.getHandshakeStatus() == HandshakeStatus.NEED_WRAP) {
                send(new byte[0]);
                moved = true;
            }
            moved |= readAll();
        }
    }

    private boolean readAll() throws SSLException {
        for (ByteBuf out = channel.readOutbound(); out != null; out = channel.readOutbound()) {
            toPeer.compact();
            toPeer.limit(toPeer.position() + out.readableBytes());
            out.readBytes(toPeer);
            toPeer.flip();
            out.release();
        }
        int before = toPeer.remaining();
        ByteBuffer data = ByteBuffer.allocate(peer.getSession().getApplicationBufferSize());
        int left;
        do {
            left = toPeer.remaining();
            peer.unwrap(toPeer, data);
        } while (toPeer.hasRemaining() && toPeer.remaining() < left);
        return toPeer.remaining() < before;
    }

    /** Lets the peer send a record with the given data, or with its next message of the handshake. */
    void send(byte[] data) throws SSLException {
        ByteBuffer record = record(data);
        if (channel.isOpen()) {
            channel.writeInbound(Unpooled.copiedBuffer(record));
        }
    }

    ByteBuffer record(byte[] data) throws SSLException {
        ByteBuffer record = ByteBuffer.allocate(peer.getSession().getPacketBufferSize());
        peer.wrap(ByteBuffer.wrap(data), record);
        return record.flip();
    }

    /** Lets the peer end the TLS session. The peer does not close the channel. */
    void endSession() throws SSLException {
        peer.closeOutbound();
        send(new byte[0]);
    }

    long received() {
        return received;
    }

    @Override
    public void close() {
        channel.finishAndReleaseAll();
    }
}
