package tern.rpc.netty;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.PeerText;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.Thrown;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.transport.Answer;
import tern.rpc.transport.ClientStream;
import tern.rpc.transport.PendingCall;
import tern.rpc.transport.TimeOuts;

/**
 * One client socket, from the connection attempt until it is closed. Calls can be sent as soon as the object exists;
 * their requests wait in the write queue until the socket is open. All state changes are in this class, because their
 * order determines which calls are lost. Fields without a comment are confined to the event loop.
 */
public final class Connection implements PendingCall.Carrier {

    private static final Logger LOG = LoggerFactory.getLogger(Connection.class);

    /**
     * The maximum number of pending calls if the connection transmits one call at a time. The number is 2, because the
     * next call can begin before the previous answer has been delivered to its caller.
     */
    private static final int ONE_AND_THE_NEXT = 2;

    /** The states of a connection, in chronological order. */
    enum State {
        CONNECTING,
        READY,
        /** The server has asked the client to stop sending calls on this connection. Answers still arrive. */
        DRAINING,
        CLOSED
    }

    private final Endpoint endpoint;
    private final ClientTransportSettings settings;
    private final ClientProtocol protocol;
    private final ConnectionOwner owner;
    private final PendingCalls pending;
    private final WriteQueue queue = new WriteQueue() {
        @Override
        void lowered() {
            queueLowered();
        }
    };
    private final QueueRoom room;
    private final ChannelOpening opening;
    private final DeadlineSweep deadlines;
    private final KeepAlive keepAlive;
    private final PendingOneWayCalls oneWayCalls;
    // true if the server asked the client to stop sending calls before the connection was ready
    private boolean leaving;
    private boolean answered;
    // the field "refused" is written before the state, so a thread that sees the new state also sees the new value
    private boolean refused;
    private volatile State state = State.CONNECTING;
    private volatile String closeReason = "";
    private volatile @Nullable Channel channel;
    private volatile @Nullable EventLoop eventLoop;

    /** @param tls null for a connection without TLS */
    Connection(
            Endpoint endpoint,
            ClientTransportSettings settings,
            ClientProtocol protocol,
            @Nullable TlsContext tls,
            ConnectionOwner owner) {
        this(endpoint, settings, protocol, tls, owner, false);
    }

    /**
     * @param tls null for no TLS
     * @param replacement whether the connection replaces a lost or draining connection. A replacement accepts calls
     *     only after the server has sent bytes. Without this rule, calls could be sent to a server that is stopping, or
     *     to a proxy whose server has stopped
     */
    Connection(
            Endpoint endpoint,
            ClientTransportSettings settings,
            ClientProtocol protocol,
            @Nullable TlsContext tls,
            ConnectionOwner owner,
            boolean replacement) {
        this.endpoint = endpoint;
        this.settings = settings;
        this.protocol = protocol;
        this.owner = owner;
        this.pending = new PendingCalls(protocol.isExclusive() ? ONE_AND_THE_NEXT : settings.maxInFlight());
        this.oneWayCalls = new PendingOneWayCalls(pending, this::closeIfDrained);
        this.room = new QueueRoom(queue, settings.maxQueuedBytes());
        this.opening = new ChannelOpening(this, protocol, tls, replacement);
        this.deadlines = new DeadlineSweep(this, pending);
        this.keepAlive = new KeepAlive(this, settings, protocol.idlePatience(settings));
    }

    void connect(EventLoops loops) {
        try {
            EventLoop loop = loops.group().next();
            eventLoop = loop;
            opening.start(loops, loop);
            // Starts the deadline checks of calls that were added before the event loop was set.
            deadlines.sweepLater();
        } catch (RuntimeException | Error e) {
            // Errors are caught too, because memory might be exhausted temporarily.
            close("the attempt to connect failed: " + Thrown.text(e));
        }
    }

    ChannelOpening opening() {
        return opening;
    }

    /** Called when the channel exists but is not open yet. */
    void connecting(Channel made) {
        channel = made;
    }

    /** Called when the channel is open. Must run on the event loop. */
    void opened(Channel opened) {
        if (state == State.CLOSED) {
            opened.close();
            return;
        }
        channel = opened;
        eventLoop = opened.eventLoop();
        LOG.debug("Connected to {}: {}", endpoint, opened);
        if (!protocol.isExclusive()) {
            keepAlive.start(opened.eventLoop());
        }
        if (opening.mayTakeCalls(opened)) {
            ready(opened);
        }
        // The close listener is added last, because it runs immediately if the server has already closed the
        // connection.
        opened.closeFuture().addListener(done -> opening.closedByServer(opened.eventLoop()));
    }

    /** Closes the connection if it is not ready for calls. Must run on the event loop. */
    void closeIfConnecting(String reason) {
        if (state == State.CONNECTING) {
            close(reason);
        }
    }

    private void ready(Channel opened) {
        opening.done();
        state = State.READY;
        queue.start(opened);
        owner.changed(this, State.READY);
        if (leaving) {
            drain();
        }
    }

    /**
     * Encodes the request on the calling thread and queues it. Always completes the call, with an answer or with a
     * failure.
     *
     * @return false if the call failed before its request was queued
     */
    boolean send(PendingCall call) {
        RpcException refusal = enter(call);
        if (refusal != null) {
            call.fail(refusal);
            return false;
        }
        try {
            queue.add(protocol.request(call, this));
        } catch (Throwable e) {
            pending.remove(call.id());
            call.fail(CallEnds.unsendable(call, endpoint, e));
            return false;
        }
        entered();
        return true;
    }

    /** Starts a streaming call; see {@link tern.rpc.transport.ClientConnection#open}. */
    ClientStream open(PendingCall call, ClientStream.Receiver receiver) {
        RpcException refusal = enter(call);
        if (refusal != null) {
            throw refusal;
        }
        ClientStream stream;
        try {
            stream = protocol.open(call, receiver, this);
        } catch (Throwable e) {
            pending.remove(call.id());
            throw CallEnds.unsendable(call, endpoint, e);
        }
        entered();
        if (call.hasFailed()) {
            abandoned(call); // the call might have been cancelled before this connection was assigned to it
        }
        return stream;
    }

    /**
     * Registers the call as pending on this connection.
     *
     * @return the failure if the call cannot be sent; otherwise null
     */
    private @Nullable RpcException enter(PendingCall call) {
        if (queue.queuedBytes() > settings.maxQueuedBytes()) {
            return CallEnds.queueIsFull(call, endpoint, queue.queuedBytes(), settings);
        }
        if (!pending.add(call)) {
            return CallEnds.tooManyInFlight(call, endpoint, settings);
        }
        call.carriedBy(this);
        return null;
    }

    private void entered() {
        if (state == State.CLOSED) {
            // If the connection was closed while this call was being registered, close() might not have failed this
            // call.
            failCalls();
        } else {
            deadlines.sweepLater();
        }
    }

    void forEachWaiting(Consumer<PendingCall> action) {
        pending.forEach(action);
    }

    @Override
    public boolean isGone() {
        State current = state;
        return current == State.DRAINING || current == State.CLOSED;
    }

    /** Sends a cancellation to the server after a call has ended without an answer. Any thread may call this method. */
    @Override
    public void abandoned(PendingCall call) {
        pending.abandon(call.id());
        WriteCommand command = protocol.abandon(call, this);
        if (command != null) {
            queue.add(command);
        }
    }

    /**
     * Passes a call on to the connection that replaces this connection, if the call's request has not been written yet.
     * Must run on the event loop.
     *
     * @param request creates the write command for the replacement, without encoding the request again
     * @return false if there is no replacement; the call is then unchanged
     */
    public boolean passOn(PendingCall call, Function<Connection, WriteCommand> request) {
        Connection other = owner.insteadOf(this);
        if (other == null) {
            return false;
        }
        if (pending.remove(call.id()) == null) {
            return true; // the call has already ended
        }
        RpcException refusal = other.enter(call);
        if (refusal != null) {
            call.fail(refusal);
        } else {
            other.queue.add(request.apply(other));
            other.entered();
        }
        closeIfDrained();
        return true;
    }

    /** Called when the answer to a request has arrived. Must run on the event loop. */
    public void answered(long id, Answer answer) {
        PendingCall call = pending.removeAnswered(id);
        if (call == null) {
            answer.discard();
        } else {
            answered = true;
            call.answer(answer);
        }
        closeIfDrained();
    }

    /** Called when the answer to a request is unusable. Must run on the event loop. */
    public void failed(long id, RpcException failure) {
        PendingCall call = pending.remove(id);
        if (call != null) {
            call.fail(failure);
        }
        closeIfDrained();
    }

    /**
     * Called when an answer has been read completely, if the connection transmits one call at a time. Must run on the
     * event loop.
     */
    public void released() {
        owner.released(this);
    }

    /** Returns the calls that have not been answered. */
    public PendingCalls calls() {
        return pending;
    }

    /**
     * Called when calls have waited for a while because the server accepts no more concurrent calls on this connection.
     * Must run on the event loop.
     *
     * @return how many of the waiting calls another connection can serve now
     */
    public int relief() {
        return owner.relief(this);
    }

    /** Called when bytes have been read, before they are processed. Must run on the event loop. */
    public void heard() {
        keepAlive.heard();
        if (opening.heardFirst()) {
            owner.heardFirst(this);
        }
        Channel open = channel;
        if (state == State.CONNECTING && opening.isOpened() && open != null) {
            ready(open);
        }
    }

    /**
     * Called after received bytes have been processed. Must run on the event loop.
     *
     * @param frames whether the bytes completed at least one frame
     */
    public void progressed(int bytes, boolean frames) {
        keepAlive.progressed(bytes, frames);
    }

    /**
     * Returns whether the server has proved that it serves this connection: it has answered a call, or it has sent
     * bytes and kept the connection open for at least a second. If not, the server might accept and immediately close
     * every connection, so the next connection attempt must wait.
     */
    boolean wasOfUse() {
        return answered || opening.hasLasted();
    }

    public WriteQueue queue() {
        return queue;
    }

    private void queueLowered() {
        EventLoop loop = eventLoop;
        if (loop != null) { // the event loop is null only before the first write
            room.lowered(loop);
        }
        closeIfDrained();
    }

    /** Returns the free space for stream messages in the write queue. */
    public QueueRoom room() {
        return room;
    }

    public Endpoint endpoint() {
        return endpoint;
    }

    public ClientTransportSettings settings() {
        return settings;
    }

    KeepAlive keepAlive() {
        return keepAlive;
    }

    /** Sends a heartbeat if the protocol has one. */
    void ping() {
        WriteCommand ping = protocol.ping(this);
        if (ping != null) {
            queue.add(ping);
        }
    }

    /** Called when the server has asked the client to stop sending calls. Must run on the event loop. */
    public void drain() {
        if (state == State.READY) {
            ServerFaults.leaves(endpoint);
            // The connection pool is notified before the state changes, so that calls can find the replacement as soon
            // as this connection is draining.
            owner.changed(this, State.DRAINING);
            state = State.DRAINING;
            closeIfDrained();
            if (state == State.DRAINING) {
                oneWayCalls.draining(eventLoop, settings.heartbeat());
            }
        } else if (state == State.CONNECTING) {
            leaving = true;
        }
    }

    /**
     * Returns the one-way calls that the server might still run, because it has not answered them. Must run on the
     * event loop.
     */
    public PendingOneWayCalls oneWayCalls() {
        return oneWayCalls;
    }

    /**
     * Closes a draining connection when it is no longer needed. A one-way call is no longer pending when its request
     * has been written, but still needs the connection. The socket might accept the request later, and many servers
     * cancel the call if the connection is closed before they have answered.
     */
    void closeIfDrained() {
        if (state == State.DRAINING && pending.size() == 0 && queue.queuedBytes() == 0 && oneWayCalls.mayBeLeft()) {
            close("the server accepts no new calls");
        }
    }

    /** Fails a call whose deadline has passed. Must run on the event loop. */
    void late(PendingCall call) {
        boolean connecting = state == State.CONNECTING;
        call.fail(executed -> TimeOuts.late(call, endpoint, connecting, opening.wasHeard(), executed));
    }

    private void lost(PendingCall call) {
        call.fail(executed -> CallEnds.lost(call, endpoint, closeReason, refused ? Executed.NO : executed));
    }

    /** Called when the server has refused the connection before reading any request. Must run on the event loop. */
    void refused(String reason) {
        refused = state != State.CLOSED;
        close(reason);
    }

    /**
     * Closes the connection. Only the first invocation has an effect. Calls waiting for an answer fail. Any thread may
     * call this method.
     */
    public void close(String reason) {
        EventLoops.run(eventLoop, () -> closeNow(reason));
    }

    private void closeNow(String reason) {
        if (state == State.CLOSED) {
            return;
        }
        closeReason = PeerText.text(reason); // HTTP/2 errors can contain text from the peer
        state = State.CLOSED;
        keepAlive.stop();
        Channel open = channel;
        if (open != null) {
            open.close();
        }
        try {
            // the connection pool is notified before the calls fail, so that an immediate retry does not choose this
            // connection
            owner.changed(this, State.CLOSED);
        } finally {
            failCalls();
        }
    }

    /**
     * Fails the pending calls. A call stays pending if its complete answer has arrived but has not been delivered yet.
     * Such a call receives its answer or fails at its deadline.
     */
    private void failCalls() {
        pending.clear(call -> !call.isAnswerHere(), this::lost);
    }

    /** Closes the connection if it is still open, and ends all of its calls. Any thread may call this method. */
    void closeWithCalls(String reason) {
        close(reason);
        EventLoops.run(eventLoop, () -> pending.clear(this::lost));
    }

    State state() {
        return state;
    }

    /** Returns the event loop; null until {@link #connect} has chosen it. */
    @Nullable
    EventLoop eventLoop() {
        return eventLoop;
    }

    /** Returns the reason why the connection was closed; empty while the connection is open. */
    String closeReason() {
        return closeReason;
    }

    int inFlight() {
        return pending.size();
    }

    long lateAnswers() {
        return pending.lateAnswers();
    }
}
