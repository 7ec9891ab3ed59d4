package tern.rpc.netty;

import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.MethodType;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.serialization.SerializationException;
import tern.rpc.transport.ClientStream;
import tern.rpc.transport.Message;
import tern.rpc.transport.PendingCall;

/**
 * A client without sockets or threads. Each input contains all bytes that a server sends on one connection with
 * pending calls. The client detects three errors that a server must never be able to cause: a call that does not end
 * exactly once, an unexpected exception, and a leaked buffer.
 */
public final class EmbeddedClient implements AutoCloseable {

    private static final Endpoint PEER = new Endpoint("127.0.0.1", 1);
    private static final String READER_OF_EXCEPTIONS = "tern.rpc.serialization.hessian.ThrowableShape";
    private static final int MAX_MESSAGE_BYTES = 1 << 20;

    /** Converts an input to the bytes that the server sends. */
    @FunctionalInterface
    public interface Script {
        /** @param firstId the request id of the first call; the ids of the other calls are consecutive */
        byte[] sent(byte[] input, long firstId);
    }

    private final ClientProtocol protocol;
    private final List<Invocation> calls;
    private final Script script;
    private final ClientTransportSettings settings;
    private final Unforeseen unforeseen = new Unforeseen();
    private final CountedBuffers buffers = new CountedBuffers();
    private int flushesUntilReset = Integer.MAX_VALUE;
    private long results;
    private long failures;

    /**
     * @param calls the calls pending on each connection; only one call if the protocol transmits one call at a time
     */
    public EmbeddedClient(ClientProtocol protocol, List<Invocation> calls, Script script) {
        this.protocol = protocol;
        this.calls = List.copyOf(calls);
        this.script = script;
        this.settings = new ClientTransportSettings(
                "fuzz",
                Duration.ofHours(1),
                Duration.ofHours(1),
                Duration.ofHours(1),
                Duration.ofHours(1),
                Duration.ofHours(1),
                Duration.ofHours(1),
                this.calls.size() + 1,
                MAX_MESSAGE_BYTES,
                MAX_MESSAGE_BYTES);
    }

    /** Makes the server reset each later connection when the client has flushed its output the given number of times. */
    public void resetAfter(int flushes) {
        flushesUntilReset = flushes;
    }

    /**
     * Passes the input to one connection in two pieces and closes the connection. The content of the input determines
     * where it is split.
     */
    public void feed(byte[] input) {
        Connection connection = new Connection(PEER, settings, protocol, null, (closed, state) -> {});
        EmbeddedChannel channel = new EmbeddedChannel(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel made) {
                buffers.count(made);
                made.pipeline().addLast(new ResettableSocket(flushesUntilReset));
                made.pipeline().addLast(connection.opening().handlers());
            }
        });
        List<Ended> ends = new ArrayList<>();
        try {
            connection.opened(channel);
            for (Invocation call : calls) {
                ends.add(begin(connection, call));
            }
            channel.runPendingTasks();
            byte[] sent = script.sent(input, ends.get(0).pending().id());
            int cut = Math.floorMod(Arrays.hashCode(input), sent.length + 1);
            write(channel, sent, 0, cut);
            write(channel, sent, cut, sent.length);
            channel.runPendingTasks();
        } finally {
            connection.close("the input is over");
            channel.finishAndReleaseAll();
        }
        ends.forEach(this::check);
        if (connection.inFlight() != 0) {
            throw new AssertionError(connection.inFlight() + " calls are kept by a connection that is closed");
        }
        buffers.check();
        unforeseen.check();
    }

    private static Ended begin(Connection connection, Invocation call) {
        Ended ended = new Ended();
        PendingCall pending = new PendingCall(call, false, System.nanoTime(), ended);
        ended.pending = pending;
        if (call.method().type() == MethodType.UNARY) {
            connection.send(pending);
        } else {
            ended.stream = connection.open(pending, ended);
            ended.stream.request(Integer.MAX_VALUE);
            ended.stream.end();
        }
        return ended;
    }

    private void write(EmbeddedChannel channel, byte[] bytes, int from, int to) {
        if (channel.isOpen() && from < to) {
            channel.writeInbound(buffers.of(bytes, from, to));
        }
    }

    private void check(Ended ended) {
        if (ended.times != 1) {
            throw new AssertionError(ended.pending() + " ended " + ended.times + " times");
        }
        results += ended.failure == null ? 1 : 0;
        failures += ended.failure == null ? 0 : 1;
        if (ended.failure != null && isOfOurCode(ended.failure)) {
            unforeseen.look(ended.failure);
        }
    }

    /**
     * Returns whether a bug in Tern caused this exception. The result is false for refusals and for exceptions that
     * were decoded from an answer.
     */
    private static boolean isOfOurCode(Throwable failure) {
        if (failure instanceof RpcException
                && (failure.getCause() == null
                        || failure.getCause() instanceof RpcException
                        || failure.getCause() instanceof SerializationException)) {
            return false;
        }
        List<String> through = Arrays.stream(failure.getStackTrace())
                .map(StackTraceElement::getClassName)
                .toList();
        // the stack trace of a decoded exception contains the class that decoded it
        return through.contains(EmbeddedClient.class.getName()) && !through.contains(READER_OF_EXCEPTIONS);
    }

    /** Returns the number of calls that returned a result. Tests use it to check that some inputs are valid. */
    public long results() {
        return results;
    }

    /** Returns the number of failed calls. */
    public long failures() {
        return failures;
    }

    @Override
    public void close() {
        unforeseen.close();
        buffers.close();
    }

    /** Records the end of a call and its result. */
    private static final class Ended implements PendingCall.Completion, ClientStream.Receiver {
        private @Nullable PendingCall pending;
        private @Nullable ClientStream stream;
        private int times;
        private @Nullable Throwable failure;

        PendingCall pending() {
            return Objects.requireNonNull(pending);
        }

        @Override
        public void completed(@Nullable Response response, @Nullable Throwable cause) {
            times++;
            failure = cause;
        }

        @Override
        public void headers(Metadata headers) {
            // this test does not check the headers
        }

        @Override
        public void message(Message message) {
            try {
                message.decode();
            } catch (RpcException unreadable) {
                if (isOfOurCode(unreadable)) {
                    throw unreadable; // Tern logs the exception, and the test detects the log entry
                }
            }
        }

        @Override
        public void ended() {
            throw new AssertionError("a client learns of the end by its call");
        }

        @Override
        public void ready() {
            // the test sends no more messages, so it ignores that the stream is ready
        }
    }
}
