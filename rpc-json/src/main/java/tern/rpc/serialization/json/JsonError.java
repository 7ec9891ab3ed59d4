package tern.rpc.serialization.json;

import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.StatusDetail;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * An error in a JSON answer (docs/wire-protocol.md 4.5 and 7.1).
 *
 * @param code the code's name in Connect, such as {@code not_found}; empty from a Dubbo server, which sends none
 * @param message the description; may be empty
 * @param details machine-readable details; those that cannot be decoded are omitted
 */
public record JsonError(String code, String message, List<StatusDetail> details) {

    private static final String TYPE_HOST = "type.googleapis.com/";

    public JsonError {
        details = List.copyOf(details);
    }

    static @Nullable JsonError read(JsonMapper mapper, byte[] json, int offset, int length) {
        JsonNode body;
        try {
            body = mapper.readTree(json, offset, length);
        } catch (JacksonException e) {
            return null;
        }
        if (!body.isObject() || !(body.has("code") || body.has("message"))) {
            return null;
        }
        List<StatusDetail> details = new ArrayList<>();
        for (JsonNode detail : body.path("details")) {
            byte[] value = decoded(detail.path("value").asString(""));
            if (value != null) {
                details.add(new StatusDetail(TYPE_HOST + detail.path("type").asString(""), value));
            }
        }
        return new JsonError(
                body.path("code").asString(""), body.path("message").asString(""), details);
    }

    private static byte @Nullable [] decoded(String base64) {
        try {
            return Base64.getDecoder().decode(base64);
        } catch (IllegalArgumentException e) {
            return null;
        }
    }
}
