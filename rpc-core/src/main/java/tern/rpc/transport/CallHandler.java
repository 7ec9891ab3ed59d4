package tern.rpc.transport;

import tern.rpc.limit.Refusal;

/** Takes the calls that a transport received. */
public interface CallHandler {

    /** Called on an event loop: must neither block nor read the call's body. */
    void handle(ServerCall call);

    /** A call was refused by the transport itself, which has answered it. Called on an event loop. */
    void refused(Refusal reason);

    /** What is exported; for transports that have to know the method before its message has come. */
    ServiceLookup services();

    /** Whether callers have to show who they are, by a token or to an authorizer. */
    boolean asksWhoCalls();

    /**
     * Whether authorizers are asked, which takes a worker. Until they have agreed, a transport tells nobody what is
     * exported: it has a call that leads nowhere judged like any other.
     */
    boolean asksAuthorizers();

    /** For transports that know a call's token before its body has come, and need not wait for that of a stranger. */
    AcceptedTokens tokens();
}
