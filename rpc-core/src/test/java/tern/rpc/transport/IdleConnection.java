package tern.rpc.transport;

import tern.rpc.endpoint.Endpoint;

/** A connection for tests. The connection has no calls in flight and accepts no calls. Subclasses define its state. */
public class IdleConnection implements ClientConnection {

    public final Endpoint endpoint;
    public boolean available = true;
    public boolean connecting;

    public IdleConnection(Endpoint endpoint) {
        this.endpoint = endpoint;
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
        return connecting;
    }

    @Override
    public String lastFailure() {
        return "";
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
        throw new AssertionError("no call");
    }

    @Override
    public ClientStream open(PendingCall call, ClientStream.Receiver receiver) {
        throw new AssertionError("no stream");
    }

    @Override
    public void close() {
        // This connection has no socket.
    }
}
