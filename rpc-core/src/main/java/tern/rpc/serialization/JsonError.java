package tern.rpc.serialization;

import java.util.List;
import tern.rpc.StatusDetail;

/**
 * An error in a JSON answer (docs/wire-protocol.md 4.5 and 7.1).
 *
 * @param code the code's name in Connect, such as {@code not_found}; empty from a Dubbo server, which sends none
 * @param message a description; may be empty
 * @param details machine-readable details; those that cannot be decoded are omitted
 */
public record JsonError(String code, String message, List<StatusDetail> details) {

    public JsonError {
        details = List.copyOf(details);
    }
}
