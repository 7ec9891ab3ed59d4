package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.util.AsciiString;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;
import tern.rpc.Invocation;
import tern.rpc.MethodDescriptor;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.netty.ClientProtocol;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.Connection;
import tern.rpc.netty.ServerProtocol.Match;
import tern.rpc.netty.WriteBatch;
import tern.rpc.netty.WriteCommand;
import tern.rpc.transport.ClientStream;
import tern.rpc.transport.PendingCall;

/** The client side of Triple over HTTP/2. The protocol can call any gRPC server. Thread-safe. */
public final class TripleClientProtocol implements ClientProtocol {

    /** The protocol name, which is also the scheme in an address: {@code tri://host:port}. */
    public static final String NAME = "tri";

    /**
     * The time after which the connection is closed if the server has not answered a ping. The value is the default
     * keep-alive timeout of gRPC.
     */
    private static final Duration PING_TIMEOUT = Duration.ofSeconds(20);

    private final TripleCodecs codecs;
    private final ConcurrentMap<HeadKey, RequestHead> heads = new ConcurrentHashMap<>();

    private record HeadKey(ServiceKey service, MethodDescriptor method, String application) {}

    public TripleClientProtocol(TripleCodecs codecs) {
        this.codecs = codecs;
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public List<String> applicationProtocols() {
        return List.of("h2");
    }

    @Override
    public void prepareReference(ServiceDescriptor service) {
        codecs.prepareReference(service);
    }

    /**
     * Checks only the first byte, which must be 0 because the first frame is a short SETTINGS frame, and frames begin
     * with their length. The type of the frame might not have arrived yet.
     */
    @Override
    public Match answersSo(ByteBuf first) {
        if (!first.isReadable()) {
            return Match.MAYBE;
        }
        return first.getByte(first.readerIndex()) == 0 ? Match.YES : Match.NO;
    }

    @Override
    public ChannelHandler clientHandler(Connection connection) {
        return new Http2ClientHandlerBuilder(connection).build();
    }

    @Override
    public WriteCommand request(PendingCall pending, Connection connection) {
        Invocation call = pending.call();
        PayloadCodec payload = codecs.payloads().of(call.method());
        byte[] message = message(call, payload, connection);
        RequestHead head = head(call, connection);
        return new UnaryCall(codecs, payload, pending, connection, head, fields(head, pending), message);
    }

    @Override
    public ClientStream open(PendingCall pending, ClientStream.Receiver receiver, Connection connection) {
        Invocation call = pending.call();
        PayloadCodec payload = codecs.payloads().of(call.method());
        boolean many = call.method().type().clientStreams();
        byte @Nullable [] message = many ? null : message(call, payload, connection);
        RequestHead head = head(call, connection);
        StreamCall stream =
                new StreamCall(codecs, payload, receiver, pending, connection, head, fields(head, pending), message);
        connection.queue().add(stream);
        return new TripleClientStream(stream, codecs, payload);
    }

    private byte[] message(Invocation call, PayloadCodec payload, Connection connection) {
        int limit = connection.settings().maxRequestBytes();
        return codecs.requestFrame(limit, call.isCompressed(), out -> payload.writeRequest(call.arguments(), out));
    }

    private RequestHead head(Invocation call, Connection connection) {
        HeadKey key =
                new HeadKey(call.service(), call.method(), connection.settings().application());
        RequestHead head = heads.get(key);
        return head != null ? head : heads.computeIfAbsent(key, TripleClientProtocol::newHead);
    }

    private static RequestHead newHead(HeadKey key) {
        return new RequestHead(key.service(), key.method(), key.application());
    }

    private static AsciiString[] fields(RequestHead head, PendingCall pending) {
        return head.fields(pending.call(), pending.isOneWay(), System.nanoTime());
    }

    @Override
    public WriteCommand abandon(PendingCall call, Connection connection) {
        long id = call.id();
        return new Command() {
            @Override
            void run(Http2ClientHandler handler) {
                handler.cancel(id);
            }
        };
    }

    @Override
    public WriteCommand ping(Connection connection) {
        return new Command() {
            @Override
            void run(Http2ClientHandler handler) {
                handler.ping();
            }
        };
    }

    /** Returns true, because an HTTP/2 server sends SETTINGS first (RFC 9113, section 3.4). */
    @Override
    public boolean isServerFirst() {
        return true;
    }

    @Override
    public Duration idlePatience(ClientTransportSettings settings) {
        return PING_TIMEOUT;
    }

    /** A write command whose bytes the write queue does not count. */
    private abstract static class Command extends WriteCommand {

        abstract void run(Http2ClientHandler handler);

        @Override
        public int bytes() {
            return 0;
        }

        @Override
        protected void write(WriteBatch batch) {
            run(Http2ClientHandler.of(batch.channel()));
        }

        @Override
        protected void dropped(Channel closed) {
            run(Http2ClientHandler.of(closed));
        }
    }
}
