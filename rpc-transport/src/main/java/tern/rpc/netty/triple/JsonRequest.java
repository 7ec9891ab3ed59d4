package tern.rpc.netty.triple;

import org.jspecify.annotations.Nullable;
import tern.rpc.netty.Connection;
import tern.rpc.netty.WriteBatch;
import tern.rpc.netty.WriteCommand;
import tern.rpc.transport.Answer;
import tern.rpc.transport.PendingCall;

/** A request in JSON over HTTP/1.1, which tells its call when it leaves. */
final class JsonRequest extends WriteCommand {

    private final TripleCodecs codecs;
    private final PendingCall pending;
    private final Connection connection;
    private final byte[] head;
    private final byte[] body;
    private @Nullable Http1ClientHandler handler; // event loop only; null until it is written

    JsonRequest(TripleCodecs codecs, PendingCall pending, Connection connection, byte[] head, byte[] body) {
        this.codecs = codecs;
        this.pending = pending;
        this.connection = connection;
        this.head = head;
        this.body = body;
    }

    PendingCall pending() {
        return pending;
    }

    TripleCodecs codecs() {
        return codecs;
    }

    @Override
    public int bytes() {
        return head.length + body.length;
    }

    @Override
    protected void write(WriteBatch batch) {
        Http1ClientHandler writing = Http1ClientHandler.of(batch.channel());
        if (pending.isDone()) {
            connection.released();
            return;
        }
        pending.sent();
        writing.begin(this);
        handler = writing;
        batch.append(head, head.length);
        batch.append(body, body.length);
    }

    @Override
    protected void written() {
        if (pending.isOneWay() && handler != null) {
            handler.endsUnheard(pending);
            connection.answered(pending.id(), Answer.NOTHING);
        }
    }
}
