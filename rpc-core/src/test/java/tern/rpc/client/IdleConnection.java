package tern.rpc.client;

import tern.rpc.endpoint.Endpoint;
import tern.rpc.transport.ClientConnection;

/** A connection for tests without open calls. Subclasses set its state. */
abstract class IdleConnection implements ClientConnection {

    final Endpoint endpoint;
    boolean available = true;
    boolean connecting;

    IdleConnection(Endpoint endpoint) {
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
    public void close() {
        // nothing is open
    }
}
