package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandler;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.Invocation;
import tern.rpc.MethodDescriptor;
import tern.rpc.MethodType;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServiceDescriptor;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.netty.AnswerReader;
import tern.rpc.netty.CallerExchanges;
import tern.rpc.netty.ClientProtocol;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.Connection;
import tern.rpc.netty.ServerProtocol.Match;
import tern.rpc.netty.UnexpectedProtocols;
import tern.rpc.netty.WriteBatch;
import tern.rpc.netty.WriteCommand;
import tern.rpc.transport.ClientStream;
import tern.rpc.transport.PendingCall;

/**
 * The client side of JSON over HTTP/1.1 (docs/wire-protocol.md 4), for networks whose proxies support only HTTP/1.1. A
 * connection transmits one call at a time. Streams are not supported, and exceptions arrive only as a status code and a
 * message. Thread-safe.
 */
public final class Http1ClientProtocol implements ClientProtocol {

    /** The name of the protocol as the scheme of an address: {@code http://host:port}. */
    public static final String NAME = "http";

    /** Bodies of more than {@value} bytes are sent without being copied. */
    private static final int JOINED_BYTES = 16 << 10;

    private static final Logger LOG = LoggerFactory.getLogger(Http1ClientProtocol.class);

    /** The warnings that have been logged. A warning that concerns several references is logged only once. */
    private static final Set<String> TOLD = ConcurrentHashMap.newKeySet();

    private final TripleCodecs codecs;
    private final JsonRequestHeads heads = new JsonRequestHeads();

    /** @param codecs the message codecs; if they do not support JSON, this protocol cannot prepare any reference */
    public Http1ClientProtocol(TripleCodecs codecs) {
        this.codecs = codecs;
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public List<String> applicationProtocols() {
        return List.of("http/1.1");
    }

    @Override
    public boolean isExclusive() {
        return true;
    }

    @Override
    public void prepareReference(ServiceDescriptor service) {
        for (MethodDescriptor method : service.methods()) {
            if (method.type() != MethodType.UNARY) {
                throw new IllegalArgumentException(method + " has " + method.type() + " calls, which the protocol "
                        + NAME + " does not have; refer to it with protocol tri");
            }
            JsonOverloads.check(method, NAME);
            String unknown = method.unknownType();
            if (unknown != null) {
                throw new IllegalArgumentException(
                        "the protocol " + NAME + " cannot tell which class to read: " + unknown);
            }
            try {
                codecs.json(method).lostState().stream().filter(TOLD::add).forEach(LOG::warn);
            } catch (HttpRefusal e) {
                throw new IllegalArgumentException(
                        method + " cannot be called with protocol " + NAME + ": "
                                + e.status().description(),
                        e);
            }
        }
    }

    /** Rejects only bytes that identify another protocol. The answer parser later rejects invalid answers. */
    @Override
    public Match answersSo(ByteBuf first) {
        if (!first.isReadable()) {
            return Match.MAYBE;
        }
        String peer = UnexpectedProtocols.protocol(first);
        return peer == null || peer.equals(UnexpectedProtocols.HTTP_1) ? Match.YES : Match.NO;
    }

    @Override
    public boolean isText() {
        return true;
    }

    @Override
    public ChannelHandler clientHandler(Connection connection) {
        return new Http1ClientHandler(
                connection,
                new JsonAnswerReader(
                        codecs, connection.endpoint(), connection.settings().maxResponseBytes()));
    }

    @Override
    public CallerExchanges callerExchanges(Endpoint endpoint, ClientTransportSettings settings) {
        return new CallerExchanges() {
            @Override
            public byte[][] request(PendingCall call) {
                return encode(call, endpoint, settings);
            }

            @Override
            public AnswerReader newReader() {
                return new JsonAnswerReader(codecs, endpoint, settings.maxResponseBytes());
            }
        };
    }

    @Override
    public WriteCommand request(PendingCall pending, Connection connection) {
        return new JsonRequest(pending, connection, encode(pending, connection.endpoint(), connection.settings()));
    }

    /**
     * Encodes the headers and the body. The result is one array if the body is at most {@value #JOINED_BYTES} bytes
     * long; otherwise the headers and the body are two arrays.
     */
    private byte[][] encode(PendingCall pending, Endpoint endpoint, ClientTransportSettings settings) {
        Invocation call = pending.call();
        boolean oneWay = pending.isOneWay();
        byte[] body = codecs.bareRequest(
                settings.maxRequestBytes(),
                call.isCompressed(),
                out -> codecs.json(call.method()).writeArguments(call.arguments(), out));
        JsonRequestHead head = heads.of(call.service(), call.method(), settings.application(), endpoint);
        if (body.length > JOINED_BYTES) {
            return new byte[][] {head.bytes(call, oneWay, body.length, System.nanoTime(), 0), body};
        }
        byte[] joined = head.bytes(call, oneWay, body.length, System.nanoTime(), body.length);
        System.arraycopy(body, 0, joined, joined.length - body.length, body.length);
        return new byte[][] {joined};
    }

    @Override
    public ClientStream open(PendingCall call, ClientStream.Receiver receiver, Connection connection) {
        throw RpcException.refusal(
                StatusCode.UNIMPLEMENTED, call + ": the protocol " + NAME + " has no streams", Executed.NO);
    }

    /** Closes the connection, because a client has no other way to cancel a call on the server. */
    @Override
    public WriteCommand abandon(PendingCall call, Connection connection) {
        long id = call.id();
        return WriteCommand.task(channel -> Http1ClientHandler.of(channel).abandon(id));
    }

    /**
     * Creates a request that has no effect and that every server answers. Such a request is sent only on a connection
     * without calls.
     */
    @Override
    public WriteCommand ping(Connection connection) {
        byte[] request = ("OPTIONS * HTTP/1.1\r\nhost: " + connection.endpoint().authority()
                        + "\r\ncontent-length: 0\r\n\r\n")
                .getBytes(StandardCharsets.US_ASCII);
        return new WriteCommand() {
            @Override
            public int bytes() {
                return request.length;
            }

            @Override
            protected void write(WriteBatch batch) {
                batch.append(request, request.length);
            }
        };
    }
}
