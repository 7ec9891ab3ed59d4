package tern.rpc.netty.triple;

import org.jspecify.annotations.Nullable;
import tern.rpc.netty.Connection;
import tern.rpc.netty.WriteBatch;
import tern.rpc.netty.WriteCommand;
import tern.rpc.transport.Answer;
import tern.rpc.transport.PendingCall;

/** A JSON request over HTTP/1.1. Notifies its call when the request is sent. */
final class JsonRequest extends WriteCommand {

    private final PendingCall pending;
    private final Connection connection;
    private final byte[][] parts;
    private final int bytes;
    // the handler that sends the request; null until the request is written; accessed only by the event loop
    private @Nullable Http1ClientHandler handler;

    /** @param parts the parts of the request, in the order in which they are sent */
    JsonRequest(PendingCall pending, Connection connection, byte[][] parts) {
        this.pending = pending;
        this.connection = connection;
        this.parts = parts;
        int sum = 0;
        for (byte[] part : parts) {
            sum += part.length;
        }
        this.bytes = sum;
    }

    PendingCall pending() {
        return pending;
    }

    @Override
    public int bytes() {
        return bytes;
    }

    @Override
    protected void write(WriteBatch batch) {
        Http1ClientHandler writing = Http1ClientHandler.of(batch.channel());
        if (!pending.markSent()) {
            connection.released();
            return;
        }
        writing.begin(this);
        handler = writing;
        for (byte[] part : parts) {
            batch.append(part, part.length);
        }
    }

    @Override
    protected void written() {
        if (pending.isOneWay() && handler != null) {
            handler.endsUnheard(pending);
            connection.answered(pending.id(), Answer.NOTHING);
        }
    }
}
