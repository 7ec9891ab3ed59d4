package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandler;
import io.netty.handler.codec.http2.Http2CodecUtil;
import tern.rpc.ServiceDescriptor;
import tern.rpc.netty.ServerConnection;
import tern.rpc.netty.ServerProtocol;
import tern.rpc.netty.WriteCommand;

/** The server side of HTTP/2 with prior knowledge. Thread-safe. */
public final class TripleProtocol implements ServerProtocol {

    private static final String NAME = "tri";

    private final TripleCodecs codecs;
    private final HttpDispatcher dispatcher;

    /** Creates the protocol with {@link HttpSettings#defaults()}. */
    public TripleProtocol(TripleCodecs codecs) {
        this(codecs, HttpSettings.defaults());
    }

    public TripleProtocol(TripleCodecs codecs, HttpSettings settings) {
        this.codecs = codecs;
        this.dispatcher = new HttpDispatcher(codecs, settings);
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public Match match(ByteBuf firstBytes) {
        ByteBuf preface = Http2CodecUtil.connectionPrefaceBuf();
        int length = Math.min(preface.readableBytes(), firstBytes.readableBytes());
        for (int i = 0; i < length; i++) {
            if (firstBytes.getByte(firstBytes.readerIndex() + i) != preface.getByte(i)) {
                return Match.NO;
            }
        }
        return length == preface.readableBytes() ? Match.YES : Match.MAYBE;
    }

    @Override
    public void prepare(ServiceDescriptor service) {
        codecs.prepare(service);
    }

    @Override
    public ChannelHandler serverHandler(ServerConnection connection) {
        return Http2ServerHandlers.of(connection, dispatcher);
    }

    @Override
    public boolean countsAnswers() {
        return true;
    }

    @Override
    public WriteCommand goAway(ServerConnection connection) {
        return WriteCommand.task(channel -> {
            Http2ServerHandler handler = channel.pipeline().get(Http2ServerHandler.class);
            if (handler != null) {
                handler.drain();
            }
        });
    }
}
