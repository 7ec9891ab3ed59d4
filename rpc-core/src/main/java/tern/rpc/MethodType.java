package tern.rpc;

/** The four kinds of gRPC calls, distinguished by the number of messages in each direction. */
public enum MethodType {
    /** One request, one answer. */
    UNARY,
    /** Many requests, one answer. */
    CLIENT_STREAMING,
    /** One request, many answers. */
    SERVER_STREAMING,
    /** Any number of requests and any number of answers, independent of each other. */
    BIDI_STREAMING;

    /** Returns whether the caller can send any number of requests. */
    public boolean clientStreams() {
        return this == CLIENT_STREAMING || this == BIDI_STREAMING;
    }

    /** Returns whether the server can send any number of answers. */
    public boolean serverStreams() {
        return this == SERVER_STREAMING || this == BIDI_STREAMING;
    }
}
