package tern.rpc.serialization;

import java.util.List;
import tern.rpc.StatusDetail;

/**
 * An error in a JSON answer (docs/wire-protocol.md 4.5 and 7.1).
 *
 * @param code the name of the Connect code, such as {@code not_found}; empty in answers from Dubbo servers, which send
 *     no code
 * @param message a description; may be empty
 * @param details the machine-readable details that can be decoded
 */
public record JsonError(String code, String message, List<StatusDetail> details) {

    public JsonError {
        details = List.copyOf(details);
    }
}
