package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandler;
import io.netty.util.AsciiString;
import tern.rpc.ServiceDescriptor;
import tern.rpc.netty.ServerConnection;
import tern.rpc.netty.ServerProtocol;
import tern.rpc.netty.WriteCommand;

/** The server side of HTTP/1.x, including the upgrade to HTTP/2. Thread-safe. */
public final class Http1Protocol implements ServerProtocol {

    private static final String NAME = "http";

    /**
     * The maximum length of a method name that is detected as HTTP. The longest registered name has 17 characters.
     */
    private static final int MAX_METHOD = 20;

    private static final AsciiString HTTP2_METHOD = AsciiString.cached("PRI");

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

    /**
     * Detects a request by a method name and a space. Unknown method names are accepted too, so that the server can
     * answer that it does not support the method. One empty line before the request is skipped (RFC 9112, 2.2). The
     * name PRI is excluded, because it belongs to HTTP/2.
     */
    @Override
    public Match match(ByteBuf firstBytes) {
        int begin = firstBytes.readerIndex();
        int end = firstBytes.writerIndex();
        if (begin < end && firstBytes.getByte(begin) == '\r') {
            begin++;
            if (begin < end && firstBytes.getByte(begin) != '\n') {
                return Match.NO;
            }
            begin++;
        }
        for (int i = begin; i < end && i - begin <= MAX_METHOD; i++) {
            byte next = firstBytes.getByte(i);
            if (next == ' ') {
                return i == begin || isHttp2(firstBytes, begin, i) ? Match.NO : Match.YES;
            }
            if (!isOfMethod(next)) {
                return Match.NO;
            }
        }
        return end - begin <= MAX_METHOD ? Match.MAYBE : Match.NO;
    }

    /**
     * Returns whether the character occurs in names of HTTP methods. RFC 9110 permits other characters, but no method
     * uses them.
     */
    private static boolean isOfMethod(byte character) {
        return (character >= 'A' && character <= 'Z')
                || (character >= 'a' && character <= 'z')
                || (character >= '0' && character <= '9')
                || character == '-'
                || character == '_';
    }

    private static boolean isHttp2(ByteBuf bytes, int begin, int end) {
        return end - begin == HTTP2_METHOD.length()
                && bytes.getByte(begin) == HTTP2_METHOD.byteAt(0)
                && bytes.getByte(begin + 1) == HTTP2_METHOD.byteAt(1)
                && bytes.getByte(begin + 2) == HTTP2_METHOD.byteAt(2);
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
