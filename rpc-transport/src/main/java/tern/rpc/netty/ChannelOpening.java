package tern.rpc.netty;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Opens the channel of a client connection with the handlers of the connection's protocol, and with TLS if required.
 * Decides when the connection may take calls. Fields without a comment are confined to the event loop.
 */
final class ChannelOpening implements ConnectAttempt.Outcome {

    private static final long SHORT_LIFE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Connection connection;
    private final ClientProtocol protocol;
    private final @Nullable TlsContext tls;
    private final boolean replacement;
    private boolean isOpened;
    private boolean heard;
    private long startedNanos; // the time when the connection attempt was started
    private long readyNanos; // the time when the connection became ready for calls

    /**
     * @param tls null for no TLS
     * @param replacement whether the connection may take calls only after the server has sent bytes
     */
    ChannelOpening(Connection connection, ClientProtocol protocol, @Nullable TlsContext tls, boolean replacement) {
        this.connection = connection;
        this.protocol = protocol;
        this.tls = tls;
        this.replacement = replacement;
    }

    void start(EventLoops loops, EventLoop loop) {
        startedNanos = System.nanoTime();
        new ConnectAttempt(connection.endpoint(), connection.settings(), tls, this::handlers, this).start(loops, loop);
    }

    ChannelHandler handlers() {
        return new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel made) {
                if (tls != null) {
                    made.pipeline()
                            .addLast(tls.newHandler(
                                    made,
                                    connection.endpoint(),
                                    how -> ServerFaults.closing(connection.endpoint(), how, null)))
                            .addLast(new TlsRefusal(connection, tls.tls()));
                }
                made.pipeline().addLast(new FirstBytes(connection, protocol));
                made.pipeline().addLast(protocol.clientHandler(connection));
            }
        };
    }

    @Override
    public void connecting(Channel made) {
        connection.connecting(made);
    }

    @Override
    public void opened(Channel opened) {
        connection.opened(opened);
    }

    @Override
    public void failed(String reason) {
        connection.close(reason);
    }

    /**
     * Called when the channel is open.
     *
     * @return false if the connection must wait for the first bytes from the server before it takes calls
     */
    boolean mayTakeCalls(Channel opened) {
        isOpened = true;
        return !replacement || heard || !listenFirst(opened);
    }

    /**
     * Starts waiting for the first bytes from the server. The connection is closed if none arrive within the connect
     * timeout. Sends a ping if a server of this protocol does not send bytes first.
     *
     * @return false if there is nothing to wait for: the protocol has no ping, and its servers do not send bytes first
     */
    private boolean listenFirst(Channel opened) {
        if (!protocol.isServerFirst()) {
            WriteCommand ping = protocol.ping(connection);
            if (ping == null) {
                return false;
            }
            WriteQueue aheadOfCalls = new WriteQueue();
            aheadOfCalls.add(ping);
            aheadOfCalls.start(opened);
        }
        long patienceMillis = connection.settings().connectTimeout().toMillis();
        opened.eventLoop()
                .schedule(
                        () -> connection.closeIfConnecting(
                                "it accepted the connection, but sent nothing for " + patienceMillis + " ms"),
                        patienceMillis,
                        TimeUnit.MILLISECONDS);
        return true;
    }

    /** Returns whether the channel has been opened, even if it has been closed since then. */
    boolean isOpened() {
        return isOpened;
    }

    /** Called when bytes have been read. Returns whether these are the first bytes on the connection. */
    boolean heardFirst() {
        boolean first = !heard;
        heard = true;
        return first;
    }

    /** Returns whether the server has sent any bytes. */
    boolean wasHeard() {
        return heard;
    }

    /** Called when the connection becomes ready for calls. */
    void done() {
        readyNanos = System.nanoTime();
    }

    /** Returns the time from the start of the connection attempt until the connection became ready for calls. */
    long tookNanos() {
        return readyNanos - startedNanos;
    }

    /** Returns whether the server has sent bytes and kept the connection open for at least a second. */
    boolean hasLasted() {
        return heard && System.nanoTime() - readyNanos >= SHORT_LIFE_NANOS;
    }

    /** Called when the channel has been closed. Closes the connection if the server closed the channel. */
    void closedByServer(EventLoop loop) {
        String reason = heard || connection.state() == Connection.State.CONNECTING
                ? CallEnds.CLOSED_BY_SERVER
                : CallEnds.closedBeforeAnyBytes(protocol.name(), tls != null);
        if (tls == null || loop.isShuttingDown()) {
            connection.close(reason);
        } else {
            // a pending TLS exception must be handled first, because it explains why the connection was closed
            loop.execute(() -> connection.close(reason));
        }
    }
}
