package tern.rpc.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandler;
import tern.rpc.ServiceDescriptor;

/** How one protocol looks on a connection of a server. Thread-safe. */
public interface ServerProtocol {

    /** What the first bytes of a connection tell. */
    enum Match {
        NO,
        /** More bytes are needed. */
        MAYBE,
        YES
    }

    /** For handlers and messages: {@code dubbo}. */
    String name();

    /** Looks at the first bytes of a connection without consuming them. */
    Match match(ByteBuf firstBytes);

    /**
     * Prepares for the types of a service.
     *
     * @throws IllegalArgumentException if one of them cannot travel
     */
    void prepare(ServiceDescriptor service);

    /** The handler of a connection. */
    ChannelHandler serverHandler(ServerConnection connection);

    /**
     * Whether the protocol itself tells {@link ServerConnection#unsent} of its answers, because they leave the connection's
     * queue before the socket takes them.
     */
    default boolean countsAnswers() {
        return false;
    }

    /** Tells a client to send no new calls. */
    WriteCommand goAway(ServerConnection connection);
}
