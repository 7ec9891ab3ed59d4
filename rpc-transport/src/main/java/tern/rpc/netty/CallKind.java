package tern.rpc.netty;

/** The kinds of calls on a server's connection. The calls of each kind are counted and limited separately. */
public enum CallKind {

    /** A unary call of a service. */
    UNARY,

    /** A streaming call of a service, which can stay open for any length of time. */
    STREAM,

    /**
     * A call of the health service's {@code Check} method. Such a call needs no token and runs on threads reserved for
     * health checks.
     */
    HEALTH_CHECK,

    /**
     * A call of the health service's {@code Watch} method. Such a call needs no token and can stay open for any length
     * of time. If all calls on a connection are of this kind, the server may close the connection to make room for a
     * new connection.
     */
    HEALTH_WATCH
}
