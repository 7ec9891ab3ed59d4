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

/** The client side of a protocol. Thread-safe. */
public interface ClientProtocol {

    /** Returns the protocol's name, which is the scheme of its addresses, such as {@code dubbo}. */
    String name();

    /**
     * Prepares the methods of a service for calls.
     *
     * @throws IllegalArgumentException if a method cannot be called with this protocol; the message names the method
     */
    void prepareReference(ServiceDescriptor service);

    /**
     * Returns the protocol names that the client offers to a TLS server in ALPN negotiation, such as {@code h2}; empty
     * to offer none.
     */
    default List<String> applicationProtocols() {
        return List.of();
    }

    /**
     * Returns whether a connection transmits only one call at a time. The client then needs one connection for each
     * concurrent call. The protocol's handlers call {@link Connection#released()} after each call and send no
     * heartbeats.
     */
    default boolean isExclusive() {
        return false;
    }

    /**
     * Returns the codec for blocking callers that use their sockets directly; null if only event loops may use the
     * sockets. Called only if {@link #isExclusive} returns true.
     */
    default @Nullable CallerExchanges callerExchanges(Endpoint endpoint, ClientTransportSettings settings) {
        return null;
    }

    /** Converts a token to this protocol's format. */
    default CallToken carry(Token token) {
        return CallToken.bearer(token);
    }

    /** Creates the channel handler of a connection. */
    ChannelHandler clientHandler(Connection connection);

    /**
     * Encodes a request on the caller's thread.
     *
     * @throws tern.rpc.RpcException if the request cannot be encoded
     */
    WriteCommand request(PendingCall call, Connection connection);

    /**
     * Starts a streaming call on the caller's thread. The protocol adds the stream's commands to the connection's write
     * queue.
     *
     * @throws tern.rpc.RpcException with code UNIMPLEMENTED if the protocol does not support streams
     */
    ClientStream open(PendingCall call, ClientStream.Receiver receiver, Connection connection);

    /** Returns the command that cancels the call on the server; null if the protocol has no such command. */
    @Nullable
    WriteCommand abandon(PendingCall call, Connection connection);

    /** Returns a heartbeat command; null if the protocol has no heartbeats. */
    @Nullable
    WriteCommand ping(Connection connection);

    /**
     * Returns whether a server that speaks this protocol sends bytes on a new connection before it receives a request.
     */
    default boolean isServerFirst() {
        return false;
    }

    /**
     * Returns whether the first bytes received on a connection can come from a server that speaks this protocol.
     *
     * @param first the first bytes of a connection; not released
     */
    default Match answersSo(ByteBuf first) {
        return Match.YES;
    }

    /**
     * Returns whether answers in this protocol begin with text. If so, unexpected text does not prove that the server
     * uses a different protocol.
     */
    default boolean isText() {
        return false;
    }

    /** Returns the time limit for the answer to a heartbeat on a connection without pending calls. */
    default Duration idlePatience(ClientTransportSettings settings) {
        return settings.heartbeat().multipliedBy(2);
    }
}
