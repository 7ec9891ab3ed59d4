package tern.rpc.transport;

import tern.rpc.ServiceDescriptor;

/**
 * A server transport for tests that forwards every method call to a second server transport. Subclasses override some
 * methods.
 */
public abstract class ForwardingServerTransport implements ServerTransport {

    private final ServerTransport transport;

    protected ForwardingServerTransport(ServerTransport transport) {
        this.transport = transport;
    }

    @Override
    public void prepare(ServiceDescriptor service) {
        transport.prepare(service);
    }

    @Override
    public void start(CallHandler handler) {
        transport.start(handler);
    }

    @Override
    public int port() {
        return transport.port();
    }

    @Override
    public void drain() {
        transport.drain();
    }

    @Override
    public int connections() {
        return transport.connections();
    }

    @Override
    public long acceptedConnections() {
        return transport.acceptedConnections();
    }

    @Override
    public int endingConnections() {
        return transport.endingConnections();
    }

    @Override
    public long received() {
        return transport.received();
    }

    @Override
    public int inFlight() {
        return transport.inFlight();
    }

    @Override
    public long queuedBytes() {
        return transport.queuedBytes();
    }

    @Override
    public long inboundBytes() {
        return transport.inboundBytes();
    }

    @Override
    public long unsentBytes() {
        return transport.unsentBytes();
    }

    @Override
    public long stalledStreams() {
        return transport.stalledStreams();
    }

    @Override
    public void close() {
        transport.close();
    }
}
