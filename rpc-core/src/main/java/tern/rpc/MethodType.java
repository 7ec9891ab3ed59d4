package tern.rpc;

/** The number of messages in each direction: the four kinds of calls of gRPC. */
public enum MethodType {
    /** One request, one answer. */
    UNARY,
    /** Many requests, one answer. */
    CLIENT_STREAMING,
    /** One request, many answers. */
    SERVER_STREAMING,
    /** Independent requests and answers, any number of each. */
    BIDI_STREAMING;

    /** Whether the caller sends any number of requests. */
    public boolean clientStreams() {
        return this == CLIENT_STREAMING || this == BIDI_STREAMING;
    }

    /** Whether the server sends any number of answers. */
    public boolean serverStreams() {
        return this == SERVER_STREAMING || this == BIDI_STREAMING;
    }
}
