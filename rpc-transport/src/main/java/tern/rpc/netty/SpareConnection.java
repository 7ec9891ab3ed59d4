package tern.rpc.netty;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.netty.Connection.State;

/**
 * A connection that checks whether a silent server is alive. The connection sends a small request and is closed when
 * the first bytes of the answer arrive. Used for protocols without heartbeats. Thread-safe.
 */
final class SpareConnection implements ConnectionOwner {

    private final Connection connection;
    private final ClientProtocol protocol;
    private final long patienceMillis;
    private final Runnable whenHeard;
    private final AtomicBoolean over = new AtomicBoolean();

    /** @param tls null for a connection without TLS */
    SpareConnection(
            Endpoint endpoint,
            ClientTransportSettings settings,
            ClientProtocol protocol,
            @Nullable TlsContext tls,
            Runnable whenHeard) {
        this.connection = new Connection(endpoint, settings, protocol, tls, this);
        this.protocol = protocol;
        this.patienceMillis = settings.probeTimeout().toMillis();
        this.whenHeard = whenHeard;
    }

    void begin(EventLoops loops) {
        connection.connect(loops);
        loops.group().schedule(this::close, patienceMillis, TimeUnit.MILLISECONDS);
    }

    @Override
    public void changed(Connection changed, State state) {
        if (state == State.READY) {
            WriteCommand request = protocol.ping(changed);
            if (request != null) {
                changed.queue().add(request);
            }
        } else if (state == State.CLOSED) {
            over.set(true);
        }
    }

    @Override
    public void heardFirst(Connection heard) {
        whenHeard.run();
        close();
    }

    /** Returns whether this connection has ended. If so, another spare connection may be opened. */
    boolean isOver() {
        return over.get();
    }

    void close() {
        over.set(true);
        connection.close("the probe is over");
    }
}
