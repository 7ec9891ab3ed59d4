package tern.rpc.transport;

/** Takes the calls that a transport received. */
public interface CallHandler {

    /** Called on an event loop: must neither block nor read the call's body. */
    void handle(ServerCall call);

    /** What is exported; for transports that have to know the method before its message has come. */
    ServiceLookup services();

    /** For transports that know a call's token before its body has come, and need not wait for that of a stranger. */
    AcceptedTokens tokens();
}
