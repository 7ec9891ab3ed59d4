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

/** A protocol on the connections of a client. Thread-safe. */
public interface ClientProtocol {

    /** The name of the protocol in an address, such as {@code dubbo}. */
    String name();

    /**
     * Prepares the calls of a service.
     *
     * @throws IllegalArgumentException if a method cannot be called with this protocol; the message names it
     */
    void prepareReference(ServiceDescriptor service);

    /** The protocols offered to a TLS server, such as {@code h2} (ALPN); empty for none. */
    default List<String> applicationProtocols() {
        return List.of();
    }

    /**
     * Whether a connection carries only one call at a time, so there are as many connections as calls. Handlers of such
     * a protocol call {@link Connection#released()} after each call, and there are no heartbeats.
     */
    default boolean isExclusive() {
        return false;
    }

    /**
     * The exchanges that blocking callers make themselves; null if only event loops use the sockets. Called only for
     * {@link #isExclusive} protocols.
     */
    default @Nullable CallerExchanges callerExchanges(Endpoint endpoint, ClientTransportSettings settings) {
        return null;
    }

    /** The form in which the protocol sends a token. */
    default CallToken carry(Token token) {
        return CallToken.bearer(token);
    }

    /** Creates the handler of a connection. */
    ChannelHandler clientHandler(Connection connection);

    /**
     * Encodes a request on the caller's thread.
     *
     * @throws tern.rpc.RpcException if it cannot be encoded
     */
    WriteCommand request(PendingCall call, Connection connection);

    /**
     * Starts a streaming call on the caller's thread, by commands in the connection's queue.
     *
     * @throws tern.rpc.RpcException UNIMPLEMENTED if the protocol has no streams
     */
    ClientStream open(PendingCall call, ClientStream.Receiver receiver, Connection connection);

    /** The command that cancels the call at the server; null if the protocol has no such command. */
    @Nullable
    WriteCommand abandon(PendingCall call, Connection connection);

    /** The heartbeat command; null if the protocol has no heartbeats. */
    @Nullable
    WriteCommand ping(Connection connection);

    /** Whether a server of this protocol sends something on a new connection before any request. */
    default boolean isServerFirst() {
        return false;
    }

    /**
     * Whether the first bytes may come from a server of this protocol.
     *
     * @param first the first bytes of a connection; the caller keeps ownership
     */
    default Match answersSo(ByteBuf first) {
        return Match.YES;
    }

    /** Whether the answers of this protocol are text. If so, text from a server does not prove another protocol. */
    default boolean isText() {
        return false;
    }

    /** The time limit for the answer to a heartbeat while no call waits. */
    default Duration idlePatience(ClientTransportSettings settings) {
        return settings.heartbeat().multipliedBy(2);
    }
}
