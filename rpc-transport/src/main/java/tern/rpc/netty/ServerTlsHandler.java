package tern.rpc.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.ssl.SslHandler;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import javax.net.ssl.SSLEngine;
import org.jspecify.annotations.Nullable;

/**
 * Netty's TLS handler for a server. The handler also counts the bytes of an incomplete record. Confined to the event
 * loop.
 */
final class ServerTlsHandler extends SslHandler {

    /** Runs the handshake's computations on a different thread, and counts the unfinished computations. */
    private static final class Computations implements Executor {

        private final Executor handshakes;
        // the TLS handler that these computations belong to; null until it has been created
        private @Nullable ServerTlsHandler handler;
        private int unfinished;

        Computations(Executor handshakes) {
            this.handshakes = handshakes;
        }

        @Override
        public void execute(Runnable computation) {
            unfinished++;
            try {
                handshakes.execute(() -> {
                    try {
                        computation.run();
                    } finally {
                        endLater();
                    }
                });
            } catch (RejectedExecutionException e) {
                unfinished--;
                throw e;
            }
        }

        /**
         * Runs on the thread of the computation, after the task that continues the handshake has been added to the
         * event loop.
         */
        private void endLater() {
            ServerTlsHandler known = Objects.requireNonNull(handler);
            try {
                Objects.requireNonNull(known.context).executor().execute(() -> {
                    unfinished--;
                    known.count();
                });
            } catch (RejectedExecutionException e) {
                // the event loops have terminated, so the connection is closed
            }
        }
    }

    private final Computations computations;
    private volatile @Nullable ChannelHandlerContext context; // the context of this handler; set before the first read
    // counts the bytes of an incomplete record; null if the bytes are not counted
    private @Nullable IncompleteInput incomplete;
    private int keptBytes; // the number of bytes that were kept after the last read

    ServerTlsHandler(SSLEngine engine, Executor handshakes) {
        this(engine, new Computations(handshakes));
    }

    private ServerTlsHandler(SSLEngine engine, Computations computations) {
        super(engine, computations);
        this.computations = computations;
        computations.handler = this;
    }

    /** Sets the object that counts the bytes of an incomplete record. Called before the first read. */
    void countIn(IncompleteInput input) {
        incomplete = input;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) throws Exception {
        context = added;
        super.handlerAdded(added);
    }

    /** The superclass also calls this method, with an empty message, when a computation has ended. */
    @Override
    public void channelRead(ChannelHandlerContext read, Object message) throws Exception {
        int bytes = keptBytes + (message instanceof ByteBuf received ? received.readableBytes() : 0);
        super.channelRead(read, message);
        keptBytes = actualReadableBytes();
        if (incomplete != null && keptBytes > 0 && keptBytes < bytes) {
            incomplete.complete();
        }
        count();
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext read) throws Exception {
        ByteBuf few = FewBytes.takenFrom(internalBuffer());
        if (few != null) {
            super.channelRead(read, few); // replaces the large buffer
            count();
        }
        super.channelReadComplete(read);
    }

    /**
     * Counts the kept bytes. During a computation, the superclass also keeps complete records. The time limit for the
     * rest of a record begins after the computation, because the client is not responsible for the time that the
     * computation takes.
     */
    private void count() {
        IncompleteInput input = incomplete;
        if (input != null) {
            boolean counts = InboundAccount.counted(keptBytes) > 0;
            input.arrived(
                    Objects.requireNonNull(context),
                    computations.unfinished > 0 ? 0 : keptBytes,
                    counts ? internalBuffer().capacity() : 0);
        }
    }
}
