package tern.rpc.transport;

import tern.rpc.ServiceDescriptor;

/**
 * A server transport for tests. The transport has no port, no connections and no calls. Subclasses receive the call
 * handler.
 */
public class IdleServerTransport implements ServerTransport {

    @Override
    public void prepare(ServiceDescriptor service) {
        // This transport needs no preparation.
    }

    @Override
    public void start(CallHandler handler) {
        // This transport accepts no calls.
    }

    @Override
    public int port() {
        return 0;
    }

    @Override
    public void drain() {
        // This transport has no open port.
    }

    @Override
    public int connections() {
        return 0;
    }

    @Override
    public long received() {
        return 0;
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
    public void close() {
        // This transport has no open port to close.
    }
}
