package tern.rpc.client;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.Response;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.transport.Answer;
import tern.rpc.transport.ClientStream;
import tern.rpc.transport.Message;
import tern.rpc.transport.MessageStream;
import tern.rpc.transport.PendingCall;

/** An opened stream. The test plays the role of the stream's server. */
final class OpenedStream implements ClientStream {
    final Endpoint endpoint;
    final PendingCall pending;
    final Receiver receiver;
    final List<@Nullable Object> sent = new CopyOnWriteArrayList<>();
    final List<Integer> requested = new CopyOnWriteArrayList<>();
    volatile boolean ready = true;
    volatile int ends;

    OpenedStream(Endpoint endpoint, PendingCall pending, Receiver receiver) {
        this.endpoint = endpoint;
        this.pending = pending;
        this.receiver = receiver;
    }

    @Override
    public void start(MessageStream.Receiver ignored) {
        throw new AssertionError("not for clients");
    }

    @Override
    public void request(int messages) {
        requested.add(messages);
    }

    @Override
    public void send(@Nullable Object value) {
        sent.add(value);
    }

    @Override
    public boolean isReady() {
        return ready;
    }

    @Override
    public synchronized void end() {
        ends++;
    }

    void answer(String text) {
        receiver.message(new Message() {
            @Override
            public int bytes() {
                return 1;
            }

            @Override
            public Object decode() {
                return text;
            }

            @Override
            public void discard() {
                // The message has no resources to release.
            }
        });
    }

    void complete() {
        pending.answer(new Answer() {
            @Override
            public Response decode(Invocation call) {
                return new Response(null, new Metadata());
            }

            @Override
            public void discard() {
                // This answer has no resources to release.
            }
        });
    }
}
