package tern.rpc.netty.triple;

import io.netty.channel.Channel;
import io.netty.channel.ChannelPromise;
import io.netty.util.AsciiString;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tern.rpc.netty.WriteBatch;
import tern.rpc.netty.WriteCommand;

/**
 * A request whose stream is being opened: its headers, and its message if there is exactly one. The request waits if no
 * stream is free.
 */
final class OpenCall extends WriteCommand {

    private final ClientCall call;
    private final RequestHead head;
    private final AsciiString[] fields;
    private final byte @Nullable [] message;
    private final int bytes;
    // null if the request is written in one step; accessed only by the event loop
    private @Nullable ChannelPromise promise;
    private @Nullable Channel channel; // the channel on which the request is written; accessed only by the event loop

    /** @param message the message with its prefix; null if the messages are sent separately */
    OpenCall(ClientCall call, RequestHead head, AsciiString[] fields, byte @Nullable [] message) {
        this.call = call;
        this.head = head;
        this.fields = fields;
        this.message = message;
        int size = head.path().length();
        for (AsciiString field : fields) {
            size += field.length();
        }
        this.bytes = size + (message == null ? 0 : message.length);
    }

    ClientCall call() {
        return call;
    }

    RequestHead head() {
        return head;
    }

    AsciiString[] fields() {
        return fields;
    }

    byte @Nullable [] message() {
        return message;
    }

    /** Returns the promise that completes when the socket has accepted or dropped the bytes of this request. */
    ChannelPromise promise() {
        ChannelPromise known = promise;
        if (known == null) {
            known = Objects.requireNonNull(channel).newPromise();
            known.addListener(done -> call.connection().queue().left(bytes));
            promise = known;
        }
        return known;
    }

    /** Returns a copy of this request for the given call. */
    OpenCall of(ClientCall other) {
        return new OpenCall(other, head, fields, message);
    }

    @Override
    public int bytes() {
        return bytes;
    }

    @Override
    protected void write(WriteBatch batch) {
        channel = batch.channel();
        batch.handedOn(bytes);
        Http2ClientHandler.of(batch.channel()).begin(this);
    }
}
