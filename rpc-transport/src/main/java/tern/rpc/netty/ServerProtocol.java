package tern.rpc.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandler;
import tern.rpc.ServiceDescriptor;

/** The server side of a protocol. Thread-safe. */
public interface ServerProtocol {

    /** The result of checking whether the first bytes of a connection belong to the protocol. */
    enum Match {
        NO,
        /** Too few bytes have arrived to identify the protocol. */
        MAYBE,
        YES
    }

    /** The name of the protocol for channel handlers and messages, such as {@code dubbo}. */
    String name();

    /** Checks the first bytes of a connection. Does not consume them. */
    Match match(ByteBuf firstBytes);

    /**
     * Prepares the parameter and result types of a service.
     *
     * @throws IllegalArgumentException if a type cannot be sent with this protocol
     */
    void prepare(ServiceDescriptor service);

    /** Creates the channel handler of a connection. */
    ChannelHandler serverHandler(ServerConnection connection);

    /**
     * Returns whether the protocol itself calls {@link UnreadBytes#add} for its answers. A protocol must do so
     * if its answers leave the connection's write queue before the socket accepts them.
     */
    default boolean countsAnswers() {
        return false;
    }

    /** Returns the command that asks a client to stop sending calls. */
    WriteCommand goAway(ServerConnection connection);
}
