package tern.rpc;

import java.util.List;

/**
 * A status code with a description.
 *
 * @param description describes the event, the call and the peer, the measured value and the limit, and the recommended
 *     change; may be empty
 * @param details machine-readable details; sent only on Triple, gRPC, gRPC-Web and Connect
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
