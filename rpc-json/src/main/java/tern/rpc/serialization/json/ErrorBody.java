package tern.rpc.serialization.json;

import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.StatusDetail;
import tern.rpc.serialization.JsonError;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Decodes the body of a response that reports an error (docs/wire-protocol.md 4.5 and 7.1). */
final class ErrorBody {

    private static final String TYPE_HOST = "type.googleapis.com/";

    private ErrorBody() {}

    /** Returns the decoded error; null if the body does not have the form of an error. */
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
