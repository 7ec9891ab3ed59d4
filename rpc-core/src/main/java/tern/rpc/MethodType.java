package tern.rpc;

/** How many messages go each way (gRPC's four kinds of calls). */
public enum MethodType {
    /** One each way. */
    UNARY,
    /** Many requests, one answer. */
    CLIENT_STREAMING,
    /** One request, many answers. */
    SERVER_STREAMING,
    /** Many each way, independently. */
    BIDI_STREAMING;

    /** Whether the caller sends any number of messages instead of one. */
    public boolean clientStreams() {
        return this == CLIENT_STREAMING || this == BIDI_STREAMING;
    }

    /** Whether the server answers with any number of messages instead of one. */
    public boolean serverStreams() {
        return this == SERVER_STREAMING || this == BIDI_STREAMING;
    }
}
