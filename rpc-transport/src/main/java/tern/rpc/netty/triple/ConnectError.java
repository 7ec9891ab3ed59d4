package tern.rpc.netty.triple;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.Metadata;
import tern.rpc.RpcException;
import tern.rpc.Status;
import tern.rpc.StatusDetail;

/** Encodes Connect errors: JSON with a code, a message and details. Strict clients accept no other fields. */
final class ConnectError {

    private static final Base64.Encoder BASE64 = Base64.getEncoder().withoutPadding();

    private ConnectError() {}

    static byte[] body(Status status) {
        StringBuilder json = new StringBuilder();
        append(status, json);
        return json.toString().getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Encodes the last frame of a stream.
     *
     * @param failure null for success
     * @throws RpcException if the metadata cannot be sent
     */
    static byte[] endOfStream(@Nullable Status failure, Metadata trailers) {
        Map<String, List<String>> metadata = new LinkedHashMap<>();
        ConnectHeaders.write(
                trailers,
                (name, value) -> metadata.computeIfAbsent(name.toString(), added -> new ArrayList<>())
                        .add(value.toString()));
        StringBuilder json = new StringBuilder("{");
        if (failure != null) {
            json.append("\"error\":");
            append(failure, json);
        }
        if (!metadata.isEmpty()) {
            json.append(failure == null ? "\"metadata\":{" : ",\"metadata\":{");
            metadata.forEach((name, values) -> append(name, values, json));
            json.setCharAt(json.length() - 1, '}');
        }
        return json.append('}').toString().getBytes(StandardCharsets.UTF_8);
    }

    private static void append(String name, List<String> values, StringBuilder json) {
        JsonText.append(name, json);
        json.append(":[");
        for (String value : values) {
            JsonText.append(value, json);
            json.append(',');
        }
        json.setCharAt(json.length() - 1, ']');
        json.append(',');
    }

    private static void append(Status status, StringBuilder json) {
        json.append("{\"code\":\"")
                .append(StatusTable.connectName(status.code()))
                .append('"');
        if (!status.description().isEmpty()) {
            json.append(",\"message\":");
            JsonText.append(status.description(), json);
        }
        appendDetails(status, json);
        json.append('}');
    }

    /** Appends the details of the status, if any. */
    static void appendDetails(Status status, StringBuilder json) {
        if (!status.details().isEmpty()) {
            json.append(",\"details\":[");
            for (StatusDetail detail : status.details()) {
                json.append("{\"type\":");
                JsonText.append(typeName(detail), json);
                json.append(",\"value\":\"")
                        .append(BASE64.encodeToString(detail.value()))
                        .append("\"},");
            }
            json.setCharAt(json.length() - 1, ']');
        }
    }

    /** Returns the type name without the host name that precedes it in a type URL. */
    private static String typeName(StatusDetail detail) {
        return detail.typeUrl().substring(detail.typeUrl().lastIndexOf('/') + 1);
    }
}
