package tern.rpc;

import java.util.List;

/**
 * A code and the sentence that explains it.
 *
 * @param description what happened, which call and peer, measured value against limit, what to change; may be empty
 * @param details for programs; they travel on Triple and its relatives only
 */
public record Status(StatusCode code, String description, List<StatusDetail> details) {

    public Status(StatusCode code, String description, List<StatusDetail> details) {
        this.code = code;
        this.description = description;
        this.details = List.copyOf(details);
    }

    public Status(StatusCode code, String description) {
        this(code, description, List.of());
    }

    @Override
    public String toString() {
        return description.isEmpty() ? code.name() : code.name() + ": " + description;
    }
}
