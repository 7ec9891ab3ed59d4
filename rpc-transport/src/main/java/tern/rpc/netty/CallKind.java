package tern.rpc.netty;

/** The kinds of calls that a server connection counts separately. */
public enum CallKind {

    /** A unary call of a service. */
    UNARY,

    /** A streaming call of a service, which may stay open for ever. */
    STREAM,

    /** A call of {@code Check} of the health service, which needs no token and runs on threads reserved for it. */
    HEALTH_CHECK,

    /**
     * A call of {@code Watch} of the health service, which needs no token and may stay open for ever. It must not
     * prevent the server from closing its connection to make room for another one.
     */
    HEALTH_WATCH
}
