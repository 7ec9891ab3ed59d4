package tern.rpc.transport;

import tern.rpc.endpoint.Endpoint;

/** The transport that a contract test uses. The transport has at most one server at a time. */
public interface TestedTransport {

    /** Creates a server transport, which the test closes. */
    ServerTransport newServer();

    /** Creates a client transport that connects to the most recently created server transport. */
    ClientTransport newClient();

    /** Returns the address of the most recently started server transport. */
    Endpoint endpoint();
}
