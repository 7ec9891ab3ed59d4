package tern.rpc.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandler;
import tern.rpc.ServiceDescriptor;

/** A protocol on the connections of a server. Thread-safe. */
public interface ServerProtocol {

    /** The result of a check of the first bytes. */
    enum Match {
        NO,
        /** More bytes are needed. */
        MAYBE,
        YES
    }

    /** The name of the protocol for handlers and messages: {@code dubbo}. */
    String name();

    /** Checks the first bytes of a connection without consuming them. */
    Match match(ByteBuf firstBytes);

    /**
     * Prepares the types of a service.
     *
     * @throws IllegalArgumentException if a type cannot be sent
     */
    void prepare(ServiceDescriptor service);

    /** Creates the handler of a connection. */
    ChannelHandler serverHandler(ServerConnection connection);

    /**
     * Whether the protocol itself calls {@link ServerConnection#unsent} for its answers. It must do so if answers leave
     * the connection's queue before the socket takes them.
     */
    default boolean countsAnswers() {
        return false;
    }

    /** The command that asks a client to send no further calls. */
    WriteCommand goAway(ServerConnection connection);
}
