package tern.rpc.limit;

/**
 * The reason why a call was refused before its method ran. The reason is a tag value of the {@code rpc.server.refused}
 * meter.
 */
public enum Refusal {
    /** The number of admitted calls has reached the limit. */
    LIMIT("limit"),
    /** The limit is nearly reached, and the call's tenant, such as its connection, has the most admitted calls. */
    SHARE("share"),
    /** All workers are busy, and the queue is full. */
    QUEUE("queue"),
    /** No worker became free within the longest allowed wait. */
    WAIT("wait"),
    /** The deadline of the call passed while the call waited for a worker. */
    DEADLINE("deadline"),
    /** The number of running calls to the method has reached the method's limit. */
    METHOD("method"),
    /** The number of unanswered calls on the connection has reached the connection's limit. */
    CONNECTION("connection"),
    /** Too many bytes of answers are waiting because the client does not read them. */
    UNREAD("unread");

    private final String key;

    Refusal(String key) {
        this.key = key;
    }

    public String key() {
        return key;
    }
}
