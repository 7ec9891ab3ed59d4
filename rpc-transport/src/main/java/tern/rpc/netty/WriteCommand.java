package tern.rpc.netty;

import io.netty.channel.Channel;
import org.jspecify.annotations.Nullable;

/** Something that waits in a {@link WriteQueue} to be written by the event loop. Queued once. */
public abstract class WriteCommand {

    @Nullable
    WriteCommand next; // handed over by the queue

    /** How many bytes it keeps in memory while it waits. */
    public abstract int bytes();

    /** Writes itself, on the event loop. */
    protected abstract void write(WriteBatch batch);

    /** In the place of writing, on the event loop: the channel is closed. */
    protected void dropped(Channel closed) {}

    /** After the batch was flushed, on the event loop. */
    protected void written() {}
}
