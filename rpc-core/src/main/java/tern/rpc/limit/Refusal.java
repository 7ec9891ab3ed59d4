package tern.rpc.limit;

/** Why a call was refused before its method ran; a value of the meter {@code rpc.server.refused}. */
public enum Refusal {
    /** As many calls are inside as the limit allows. */
    LIMIT("limit"),
    /** Few places are left, and its tenant, such as its connection, holds more than any other. */
    SHARE("share"),
    /** All workers are busy, and the queue is full. */
    QUEUE("queue"),
    /** No worker was free in time. */
    WAIT("wait"),
    /** Its deadline passed while it waited. */
    DEADLINE("deadline"),
    /** As many calls of its method are running as that one's limit allows. */
    METHOD("method"),
    /** As many calls of its connection are unanswered as one may have. */
    CONNECTION("connection"),
    /** Its connection leaves too many bytes of answers unread. */
    UNREAD("unread");

    private final String key;

    Refusal(String key) {
        this.key = key;
    }

    public String key() {
        return key;
    }
}
