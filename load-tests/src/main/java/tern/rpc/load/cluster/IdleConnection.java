package tern.rpc.load.cluster;

import tern.rpc.endpoint.Endpoint;
import tern.rpc.transport.ClientConnection;
import tern.rpc.transport.ClientStream;
import tern.rpc.transport.PendingCall;

/** A connection without a socket for benchmarks that send no calls. The benchmark sets whether it is open. */
public final class IdleConnection implements ClientConnection {

    private final Endpoint endpoint;
    private boolean available = true;

    public IdleConnection(Endpoint endpoint) {
        this.endpoint = endpoint;
    }

    void setAvailable(boolean available) {
        this.available = available;
    }

    @Override
    public Endpoint endpoint() {
        return endpoint;
    }

    @Override
    public boolean isAvailable() {
        return available;
    }

    @Override
    public boolean isConnecting() {
        return false;
    }

    @Override
    public String lastFailure() {
        return available ? "" : "refused";
    }

    @Override
    public int inFlight() {
        return 0;
    }

    @Override
    public long queuedBytes() {
        return 0;
    }

    @Override
    public long lateAnswers() {
        return 0;
    }

    @Override
    public void send(PendingCall call) {
        throw new UnsupportedOperationException();
    }

    @Override
    public ClientStream open(PendingCall call, ClientStream.Receiver receiver) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {
        // This connection has no socket, so there is nothing to close.
    }
}
