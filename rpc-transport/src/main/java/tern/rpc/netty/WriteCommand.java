package tern.rpc.netty;

import io.netty.channel.Channel;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** An entry in a {@link WriteQueue}, which the event loop writes to the socket. A command may be queued only once. */
public abstract class WriteCommand {

    // The thread that adds the command to the queue writes this field before it adds the command.
    @Nullable
    WriteCommand next;

    /** Creates a command that writes no bytes. The event loop runs the task with the channel of the connection. */
    public static WriteCommand task(Consumer<Channel> task) {
        return new WriteCommand() {
            @Override
            public int bytes() {
                return 0;
            }

            @Override
            protected void write(WriteBatch batch) {
                task.accept(batch.channel());
            }
        };
    }

    /** Returns the number of bytes that the command occupies in memory while it waits in the queue. */
    public abstract int bytes();

    /** Writes the command to the batch. Runs on the event loop. */
    protected abstract void write(WriteBatch batch);

    /** Called instead of {@link #write} if the channel is closed. Runs on the event loop. */
    protected void dropped(Channel closed) {}

    /** Called after the batch has been flushed. Runs on the event loop. */
    protected void written() {}
}
