package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandler;
import io.netty.util.AsciiString;
import java.util.List;
import tern.rpc.ServiceDescriptor;
import tern.rpc.netty.ServerConnection;
import tern.rpc.netty.ServerProtocol;
import tern.rpc.netty.WriteCommand;

/** The server side of HTTP/1.x, including the upgrade to HTTP/2. Thread-safe. */
public final class Http1Protocol implements ServerProtocol {

    private static final String NAME = "http";

    private static final List<AsciiString> STARTS = List.of(
            AsciiString.cached("GET "),
            AsciiString.cached("HEAD "),
            AsciiString.cached("POST "),
            AsciiString.cached("PUT "),
            AsciiString.cached("PATCH "),
            AsciiString.cached("DELETE "),
            AsciiString.cached("OPTIONS "),
            // TRACE is detected as HTTP, so that the server can reject the request with an explanation
            AsciiString.cached("TRACE "),
            AsciiString.cached("CONNECT "));

    private final TripleCodecs codecs;
    private final HttpDispatcher dispatcher;

    public Http1Protocol(TripleCodecs codecs, HttpSettings settings) {
        this.codecs = codecs;
        this.dispatcher = new HttpDispatcher(codecs, settings);
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public Match match(ByteBuf firstBytes) {
        for (AsciiString start : STARTS) {
            int length = Math.min(start.length(), firstBytes.readableBytes());
            if (startsWith(firstBytes, start, length)) {
                return length == start.length() ? Match.YES : Match.MAYBE;
            }
        }
        return Match.NO;
    }

    private static boolean startsWith(ByteBuf bytes, AsciiString start, int length) {
        for (int i = 0; i < length; i++) {
            if (bytes.getByte(bytes.readerIndex() + i) != start.byteAt(i)) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void prepare(ServiceDescriptor service) {
        codecs.prepare(service);
    }

    @Override
    public ChannelHandler serverHandler(ServerConnection connection) {
        return new Http1ServerHandler(connection, dispatcher);
    }

    @Override
    public boolean countsAnswers() {
        return true;
    }

    @Override
    public WriteCommand goAway(ServerConnection connection) {
        return WriteCommand.task(channel -> {
            Http1ServerHandler handler = channel.pipeline().get(Http1ServerHandler.class);
            Http2ServerHandler upgraded = channel.pipeline().get(Http2ServerHandler.class);
            if (handler != null) {
                handler.drain();
            } else if (upgraded != null) {
                upgraded.drain();
            }
        });
    }
}
