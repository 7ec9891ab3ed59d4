package tern.rpc.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandler;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.ServiceDescriptor;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.netty.ServerProtocol.Match;
import tern.rpc.transport.CallToken;
import tern.rpc.transport.ClientStream;
import tern.rpc.transport.PendingCall;
import tern.rpc.transport.Token;

/** How one protocol looks on a connection of a client. Thread-safe. */
public interface ClientProtocol {

    /** As in an address: {@code dubbo}. */
    String name();

    /**
     * Prepares for calls of a service.
     *
     * @throws IllegalArgumentException naming the method, if one of them cannot be called with this protocol
     */
    void prepareReference(ServiceDescriptor service);

    /** What is told to a server with TLS, such as {@code h2} (ALPN); empty for nothing. */
    default List<String> applicationProtocols() {
        return List.of();
    }

    /**
     * Whether a connection carries one call at a time, so that there are as many connections as calls. Their handlers
     * tell {@link Connection#released()} after each, and they are not asked for signs of life.
     */
    default boolean isExclusive() {
        return false;
    }

    /**
     * How callers that wait make their exchanges themselves; null where only event loops move bytes. Only asked of protocols
     * that are {@link #isExclusive}.
     */
    default @Nullable CallerExchanges callerExchanges(Endpoint endpoint, ClientTransportSettings settings) {
        return null;
    }

    /** How a token is shown to the server. */
    default CallToken carry(Token token) {
        return CallToken.bearer(token);
    }

    /** The handler of a connection. */
    ChannelHandler clientHandler(Connection connection);

    /**
     * Encodes a request on the caller's thread.
     *
     * @throws tern.rpc.RpcException if it cannot be encoded
     */
    WriteCommand request(PendingCall call, Connection connection);

    /**
     * Begins a streaming call, on the caller's thread, by commands in the connection's queue.
     *
     * @throws tern.rpc.RpcException UNIMPLEMENTED if the protocol has no streams
     */
    ClientStream open(PendingCall call, ClientStream.Receiver receiver, Connection connection);

    /** Tells the server that nobody waits for the answer any more; null where there is no way. */
    @Nullable
    WriteCommand abandon(PendingCall call, Connection connection);

    /** Asks the peer for a sign of life; null where there is no way. */
    @Nullable
    WriteCommand ping(Connection connection);

    /** Whether a server sends something on a new connection without being asked. */
    default boolean isServerFirst() {
        return false;
    }

    /**
     * Whether a server of this protocol may begin so.
     *
     * @param first bytes of a connection; stays the caller's
     */
    default Match answersSo(ByteBuf first) {
        return Match.YES;
    }

    /** Whether its own answers are text, so that text is no proof of another protocol. */
    default boolean isText() {
        return false;
    }

    /** How long that sign may take to come while no call waits. */
    default Duration idlePatience(ClientTransportSettings settings) {
        return settings.heartbeat().multipliedBy(2);
    }
}
