package tern.rpc.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.PeerText;
import tern.rpc.RpcException;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.transport.Answer;
import tern.rpc.transport.PendingCall;
import tern.rpc.transport.TimeOuts;

/**
 * A socket for blocking callers. The caller's thread connects, sends the request and reads the answer, so no other
 * thread has to be woken. The socket transmits one call at a time. To cancel a waiting call, another thread closes the
 * socket, which ends the read. Fields without a comment are used only by the thread that owns the connection. The owner
 * is the caller's thread, or the thread that has removed the connection from the idle connections.
 */
final class CallerConnection implements PendingCall.Carrier {

    private static final Logger LOG = LoggerFactory.getLogger(CallerConnection.class);

    /** The maximum number of bytes read or written at once. This limit keeps the JVM's per-thread buffers small. */
    private static final int MAX_BYTES = 64 << 10;

    private static final int USUAL_BYTES = 8 << 10;

    static final String CLOSED_BY_SERVER = "the connection was closed by the server";

    /** Receives the events of a connection. Each method runs on the thread that causes the event. */
    interface Owner {
        /** @param address the address at which the server was reached */
        void connected(CallerConnection connection, InetAddress address);

        /** Returns the address at which the server was last reached, or null if it is unknown. */
        @Nullable
        InetAddress lastReached();

        /** Called when the connection is free for the next call. */
        void released(CallerConnection connection);

        /** Called when an answer arrives after its call has ended. */
        void answeredLate();

        /**
         * Called once, when the connection is closed.
         *
         * @param unreachable the reason why the server was never reached; null if the server was reached, or if the
         *     call had ended earlier
         */
        void gone(CallerConnection connection, @Nullable String unreachable);
    }

    private final Endpoint endpoint;
    private final ClientTransportSettings settings;
    private final AnswerReader reader;
    private final Owner owner;
    private final AtomicReference<@Nullable String> closeReason = new AtomicReference<>();
    private volatile @Nullable SocketChannel channel;
    private volatile @Nullable PendingCall current;
    private volatile boolean connected;
    private volatile int unsentBytes;
    private byte[][] request = {};
    private ByteBuf unread = Unpooled.EMPTY_BUFFER;
    private long idleSinceNanos;

    CallerConnection(
            Endpoint endpoint, ClientTransportSettings settings, AnswerReader reader, CallerConnection.Owner owner) {
        this.endpoint = endpoint;
        this.settings = settings;
        this.reader = reader;
        this.owner = owner;
    }

    /** Accepts a call. The request is sent when the caller starts waiting for the answer. */
    void carry(PendingCall call, byte[][] encoded) {
        int bytes = 0;
        for (byte[] part : encoded) {
            bytes += part.length;
        }
        unsentBytes = bytes;
        request = encoded;
        call.carriedBy(this);
        current = call;
        if (isClosed()) {
            lose(call); // the connection might have been closed just before the call was stored in "current"
        } else if (call.isDone()) {
            close("its call was given up"); // the caller no longer waits for the answer
        }
    }

    // ---- Caller's thread

    @Override
    public void awaited(PendingCall call) {
        try {
            exchange(call);
        } catch (IOException e) {
            ended(call, e instanceof SocketTimeoutException ? timedOut() : CallEnds.describe(e));
        } catch (RpcException e) {
            call.fail(e);
            close("its answer cannot be read");
        } catch (RuntimeException e) {
            ServerFaults.closing(endpoint, String.valueOf(e.getMessage()), e);
            close(e.toString());
        } catch (Error e) {
            close(e.toString());
            throw e;
        }
    }

    private void exchange(PendingCall call) throws IOException {
        SocketChannel socket = connected ? Objects.requireNonNull(channel) : connect();
        try {
            write(call, socket);
        } catch (IOException e) {
            // an answer is read even if the write fails, because the server might have answered before it read the
            // whole request
            Answer early = answerAfter(call, socket, e);
            answered(call, early, false);
            return;
        }
        Answer answer = read(call, socket);
        if (answer == null) {
            ended(call, CLOSED_BY_SERVER);
        } else {
            answered(call, answer, reader.keepsAlive() && !unread.isReadable());
        }
    }

    /**
     * Tries the host's addresses one after another, and begins with the address at which the server was last reached.
     * If each connection began with the first address, each connection might first wait for an unreachable address. All
     * attempts together take at most the connect timeout.
     */
    private SocketChannel connect() throws IOException {
        List<InetAddress> addresses = addresses();
        long end = System.nanoTime() + settings.connectTimeout().toNanos();
        for (int i = 0; ; i++) {
            int left = addresses.size() - i;
            long millis = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime()) / left;
            try {
                return connect(addresses.get(i), Math.max(1, (int) millis));
            } catch (IOException e) {
                if (left == 1 || isClosed()) {
                    throw e;
                }
            }
        }
    }

    private List<InetAddress> addresses() throws UnknownHostException {
        try {
            return NamedHost.startingWith(
                    owner.lastReached(), NamedHost.alternating(InetAddress.getAllByName(endpoint.host())));
        } catch (UnknownHostException e) {
            throw new UnknownHostException(endpoint.host());
        }
    }

    private SocketChannel connect(InetAddress address, int timeoutMillis) throws IOException {
        SocketChannel made = SocketChannel.open();
        channel = made;
        try {
            if (isClosed()) {
                // the thread that closed the connection might not have seen the new channel, so the current thread
                // closes the channel
                made.close();
            }
            made.setOption(StandardSocketOptions.TCP_NODELAY, true);
            // connect() blocks until the socket is connected or the deadline sweep closes it
            made.socket().connect(new InetSocketAddress(address, endpoint.port()), timeoutMillis);
        } catch (IOException e) {
            made.close();
            throw e;
        }
        connected = true;
        owner.connected(this, address);
        return made;
    }

    private String timedOut() {
        return "connection timed out after " + settings.connectTimeout().toMillis() + " ms: " + endpoint;
    }

    private void write(PendingCall call, SocketChannel socket) throws IOException {
        byte[][] parts = request;
        request = new byte[0][];
        if (!call.markSent()) {
            return; // the call has ended, so another thread has closed this connection or will close it soon
        }
        for (byte[] part : parts) {
            ByteBuffer left = ByteBuffer.wrap(part);
            while (left.position() < part.length) {
                left.limit(Math.min(part.length, left.position() + MAX_BYTES));
                socket.write(left);
            }
        }
        unsentBytes = 0;
    }

    private Answer answerAfter(PendingCall call, SocketChannel socket, IOException failure) throws IOException {
        Answer answer = null;
        try {
            answer = read(call, socket);
        } catch (IOException e) {
            failure.addSuppressed(e);
        }
        if (answer == null) {
            throw failure;
        }
        return answer;
    }

    /** @return the answer; null if the connection ends before the answer is complete */
    private @Nullable Answer read(PendingCall call, SocketChannel socket) throws IOException {
        Answer answer = null;
        try {
            while (answer == null) {
                makeRoom(Math.max(USUAL_BYTES, Math.min(MAX_BYTES, reader.missingBytes())));
                if (unread.writeBytes(socket, Math.min(MAX_BYTES, unread.writableBytes())) < 0) {
                    return null;
                }
                answer = reader.read(unread, call);
            }
            return answer;
        } finally {
            if (answer == null) {
                reader.end();
            }
        }
    }

    private void makeRoom(int wanted) {
        if (unread.capacity() == 0) {
            unread = Unpooled.buffer(wanted);
        } else if (!unread.isReadable()) {
            unread.clear();
        }
        if (unread.writableBytes() < wanted / 2) {
            unread.discardReadBytes().ensureWritable(wanted);
        }
    }

    private void answered(PendingCall call, Answer answer, boolean reusable) {
        if (unread.capacity() > USUAL_BYTES) {
            unread = Unpooled.EMPTY_BUFFER; // the buffer of a large answer is not kept for later answers
        }
        // the field "current" is cleared before the answer is delivered, because the delivery allows the next call to
        // use the connection
        current = null;
        if (!call.answer(answer)) {
            owner.answeredLate();
            close("its call was given up");
        } else if (reusable) {
            idleSinceNanos = System.nanoTime();
            owner.released(this);
        } else {
            close("the server does not reuse the connection after its last answer");
        }
    }

    /**
     * Closes the connection and fails its call. Does nothing if the waiting caller was interrupted, because the
     * caller then reports the interrupt itself.
     */
    private void ended(PendingCall call, String reason) {
        if (call.isDone() || !Thread.currentThread().isInterrupted()) {
            close(reason);
        }
    }

    // ---- Reuse checks

    long idleSinceNanos() {
        return idleSinceNanos;
    }

    /**
     * Returns whether the connection can be reused. Reads without blocking, and closes the connection if the server has
     * closed it or sent an unrequested byte.
     */
    boolean isFresh() {
        SocketChannel socket = Objects.requireNonNull(channel);
        unread = Unpooled.EMPTY_BUFFER; // the buffer is released, because an idle connection must not keep a buffer
        String reason;
        try {
            socket.configureBlocking(false);
            int came = socket.read(ByteBuffer.allocate(1));
            socket.configureBlocking(true);
            if (came == 0) {
                return true;
            }
            reason = came < 0 ? CLOSED_BY_SERVER : "the server sent an answer without a request";
        } catch (IOException e) {
            reason = CallEnds.describe(e);
        }
        close(reason);
        return false;
    }

    // ---- Any thread

    /** Closes the connection, because its call ended without an answer. */
    @Override
    public void abandoned(PendingCall call) {
        if (current == call) {
            close("its call was given up");
        }
    }

    @Override
    public boolean isGone() {
        return isClosed();
    }

    /** Passes the current call to the action. Does nothing if there is no current call. */
    void ifWaiting(Consumer<PendingCall> action) {
        PendingCall call = current;
        if (call != null) {
            action.accept(call);
        }
    }

    /** Fails the current call if its deadline has passed. */
    void sweep(long now) {
        PendingCall call = current;
        if (call != null && call.call().deadline().isExpired(now)) {
            boolean connecting = !connected;
            call.fail(executed -> TimeOuts.late(call, endpoint, connecting, true, executed));
        }
    }

    /** Closes the connection. Only the first call to this method has an effect. A call waiting for an answer fails. */
    void close(String reason) {
        if (!closeReason.compareAndSet(null, reason)) {
            return;
        }
        LOG.debug("Closing a caller's connection to {}: {}", endpoint, PeerText.text(reason));
        SocketChannel open = channel;
        try {
            if (open != null) {
                open.close();
            }
        } catch (IOException e) {
            LOG.debug("Closing a caller's connection to {}", endpoint, e);
        }
        PendingCall lost = current;
        boolean unreachable = !connected && lost != null && !lost.isDone();
        try {
            // the connection pool is notified before the call fails, so that an immediate retry does not choose this
            // connection
            owner.gone(this, unreachable ? reason : null);
        } finally {
            if (lost != null) {
                lose(lost);
            }
        }
    }

    private void lose(PendingCall call) {
        call.fail(executed -> CallEnds.lost(call, endpoint, String.valueOf(closeReason.get()), executed));
    }

    boolean isClosed() {
        return closeReason.get() != null;
    }

    boolean isBusy() {
        return current != null;
    }

    int unsentBytes() {
        return isBusy() ? unsentBytes : 0;
    }
}
