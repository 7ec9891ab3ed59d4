package tern.rpc.netty;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOutboundBuffer;

/**
 * A snapshot of how many of the written bytes a connection's socket has accepted. If two consecutive values are equal
 * and {@link #isSending} is true, the socket accepted no byte in between.
 *
 * @param pendingBytes the number of bytes that the socket has not accepted
 * @param buffer identifies the buffer that is being written
 * @param takenOfBuffer the number of bytes of this buffer that the socket has accepted
 */
record OutputProgress(long pendingBytes, int buffer, long takenOfBuffer) {

    /** The state of a socket that has accepted all bytes. */
    static final OutputProgress NOTHING = new OutputProgress(0, 0, 0);

    /** Returns the current state of the channel's socket. Must run on the event loop. */
    static OutputProgress of(Channel channel) {
        ChannelOutboundBuffer output = channel.unsafe().outboundBuffer(); // the buffer is null if the channel is closed
        if (output == null || output.isEmpty()) {
            return NOTHING;
        }
        return new OutputProgress(
                output.totalPendingWriteBytes(), System.identityHashCode(output.current()), output.currentProgress());
    }

    /** Returns whether written bytes are waiting for the socket. */
    boolean isSending() {
        return pendingBytes > 0;
    }
}
