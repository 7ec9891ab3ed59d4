package tern.rpc.serialization;

import org.jspecify.annotations.Nullable;

/** The direction of a message. Each direction has its own size limit. */
public enum MessageKind {
    REQUEST("rpc.limits.max-request"),
    RESPONSE("rpc.limits.max-response");

    private final String property;

    MessageKind(String property) {
        this.property = property;
    }

    /** Returns the property that limits the size of messages of this kind. */
    public String property() {
        return property;
    }

    /**
     * Returns the end of an error message about a limit, such as {@code "; set by rpc.limits.max-request"}. Returns an
     * empty string if the kind is null.
     */
    static String setBy(@Nullable MessageKind kind) {
        return kind == null ? "" : "; set by " + kind.property;
    }
}
