package tern.rpc.netty.triple;

import io.netty.channel.ChannelHandler;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;
import tern.rpc.Invocation;
import tern.rpc.MethodDescriptor;
import tern.rpc.MethodType;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.StatusCode;
import tern.rpc.netty.ClientProtocol;
import tern.rpc.netty.Connection;
import tern.rpc.netty.WriteBatch;
import tern.rpc.netty.WriteCommand;
import tern.rpc.transport.ClientStream;
import tern.rpc.transport.PendingCall;

/**
 * Calls as JSON over HTTP/1.1 (wire document, chapter 4) at a client, for the way through proxies that know nothing
 * else: one request and one answer at a time on a connection, no streams, exceptions as code and text. Thread-safe.
 */
public final class Http1ClientProtocol implements ClientProtocol {

    /** As in an address: {@code http://host:port}. */
    public static final String NAME = "http";

    private final TripleCodecs codecs;
    private final ConcurrentMap<HeadKey, JsonRequestHead> heads = new ConcurrentHashMap<>();

    private record HeadKey(ServiceKey service, MethodDescriptor method, String application, String host) {}

    /** @param codecs with JSON, without which no reference can be prepared */
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
            try {
                codecs.json(method);
            } catch (HttpRefusal e) {
                throw new IllegalArgumentException(
                        method + " cannot be called with protocol " + NAME + ": "
                                + e.status().description(),
                        e);
            }
        }
    }

    @Override
    public ChannelHandler clientHandler(Connection connection) {
        return new Http1ClientHandler(connection);
    }

    @Override
    public WriteCommand request(PendingCall pending, Connection connection) {
        Invocation call = pending.call();
        int limit = connection.settings().maxMessageBytes();
        byte[] body = codecs.bare(
                limit, call.isCompressed(), out -> codecs.json(call.method()).writeArguments(call.arguments(), out));
        byte[] head = head(call, connection).bytes(call, body.length, System.nanoTime());
        return new JsonRequest(codecs, pending, connection, head, body);
    }

    private JsonRequestHead head(Invocation call, Connection connection) {
        HeadKey key = new HeadKey(
                call.service(),
                call.method(),
                connection.settings().application(),
                connection.endpoint().toString());
        JsonRequestHead known = heads.get(key);
        return known != null
                ? known
                : heads.computeIfAbsent(
                        key,
                        added -> new JsonRequestHead(
                                added.service(), added.method(), added.application(), added.host()));
    }

    @Override
    public ClientStream open(PendingCall call, ClientStream.Receiver receiver, Connection connection) {
        throw RpcException.refusal(
                StatusCode.UNIMPLEMENTED, call + ": the protocol " + NAME + " has no streams", Executed.NO);
    }

    /** There is no other way to tell the server than to leave. */
    @Override
    public WriteCommand abandon(PendingCall call, Connection connection) {
        long id = call.id();
        return new WriteCommand() {
            @Override
            public int bytes() {
                return 0;
            }

            @Override
            protected void write(WriteBatch batch) {
                Http1ClientHandler.of(batch.channel()).abandon(id);
            }
        };
    }

    @Override
    public @Nullable WriteCommand ping(Connection connection) {
        return null;
    }
}
