package tern.rpc.limit;

/**
 * The reason why a call was refused before its method ran. It is a tag value of the meter {@code rpc.server.refused}.
 */
public enum Refusal {
    /** The number of calls inside has reached the limit. */
    LIMIT("limit"),
    /** Few places are free, and the tenant of the call, such as its connection, holds more calls than any other. */
    SHARE("share"),
    /** All workers are busy, and the queue is full. */
    QUEUE("queue"),
    /** No worker was free in time. */
    WAIT("wait"),
    /** The deadline of the call passed while it waited. */
    DEADLINE("deadline"),
    /** The number of running calls of the method has reached the method's limit. */
    METHOD("method"),
    /** The number of unanswered calls of the connection has reached its limit. */
    CONNECTION("connection"),
    /** The connection has too many bytes of unread answers. */
    UNREAD("unread");

    private final String key;

    Refusal(String key) {
        this.key = key;
    }

    public String key() {
        return key;
    }
}
