package tern.rpc.transport;

import tern.rpc.limit.Refusal;

/** Handles the calls that a transport receives. */
public interface CallHandler {

    /** Handles a call. Runs on an event loop, so it must neither block nor decode the request. */
    void handle(ServerCall call);

    /** Counts a call that the transport itself has answered with a refusal. Runs on an event loop. */
    void refused(Refusal reason);

    /** Returns the exported services. Some transports must know the method before the message has arrived. */
    ServiceLookup services();

    /** Returns whether callers need a token or an authorizer's permission. */
    boolean asksWhoCalls();

    /**
     * Returns whether there are authorizers, which run on a worker. Until the authorizers have allowed a call, a
     * transport must not reveal which services exist. A transport therefore passes a call to an unknown service to the
     * authorizers, like any other call.
     */
    boolean hasAuthorizers();

    /**
     * Returns the accepted tokens. A transport that receives the token before the body can use them to refuse an
     * unauthorized caller without waiting for the body.
     */
    AcceptedTokens tokens();
}
