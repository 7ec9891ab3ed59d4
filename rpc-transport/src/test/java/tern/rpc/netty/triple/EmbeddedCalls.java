package tern.rpc.netty.triple;

import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.ServiceKey;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.EmbeddedConnection;
import tern.rpc.netty.triple.Http2Script.Frame;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.transport.PendingCall;

/** Makes calls with the Triple client on a connection without a socket, whose clock is simulated. */
final class EmbeddedCalls {

    private final TripleClientProtocol protocol = new TripleClientProtocol(
            new TripleCodecs(HessianSerializer.builder().build(), null, 0));
    final EmbeddedConnection connection;

    /** Connects, and exchanges settings with the server. */
    EmbeddedCalls(ClientTransportSettings settings) {
        protocol.prepareReference(RawServerCalls.CALL.service());
        connection = new EmbeddedConnection(protocol, settings);
        connection.beginReading();
        send(Http2Script.SETTINGS, 0, 0);
        send(Http2Script.SETTINGS, Http2Script.ACK, 0);
        connection.written();
    }

    /** Sends a frame to the client. */
    void send(int type, int flags, int stream, byte... payload) {
        connection.send(new Frame(type, flags, stream, payload).bytes());
    }

    PendingCall call(Deadline deadline) {
        Invocation call = new Invocation(
                new ServiceKey(RawServerCalls.CALL.service().name(), "", ""),
                RawServerCalls.CALL,
                new Object[] {new byte[1]},
                new Metadata(),
                deadline,
                Runnable::run);
        PendingCall pending = new PendingCall(call, false, System.nanoTime(), null);
        connection.call(pending);
        return pending;
    }
}
