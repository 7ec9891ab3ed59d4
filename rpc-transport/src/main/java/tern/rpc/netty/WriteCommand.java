package tern.rpc.netty;

import io.netty.channel.Channel;
import org.jspecify.annotations.Nullable;

/** An entry of a {@link WriteQueue} that the event loop writes. It may be queued only once. */
public abstract class WriteCommand {

    @Nullable
    WriteCommand next; // published by the queue

    /** The number of bytes that the command keeps in memory while it waits. */
    public abstract int bytes();

    /** Writes the command. Runs on the event loop. */
    protected abstract void write(WriteBatch batch);

    /** Called instead of {@link #write} if the channel is closed. Runs on the event loop. */
    protected void dropped(Channel closed) {}

    /** Called after the flush of the batch. Runs on the event loop. */
    protected void written() {}
}
