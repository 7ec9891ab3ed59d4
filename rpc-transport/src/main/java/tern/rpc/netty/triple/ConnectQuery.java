package tern.rpc.netty.triple;

import io.netty.handler.codec.http.QueryStringDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The query of a GET request in Connect's form.
 *
 * @param version null if the query does not name it
 * @param encoding {@code json} or {@code proto}
 * @param message one character per byte
 * @param compression null for none
 */
record ConnectQuery(
        @Nullable String version,
        String encoding,
        String message,
        boolean base64,
        @Nullable String compression) {

    static final String ENCODING = "encoding";
    static final String MESSAGE = "message";
    private static final String CURRENT = "v1";

    /** Null if there is no message with its encoding, or the query is malformed. */
    static @Nullable ConnectQuery of(CharSequence path) {
        Map<String, List<String>> query;
        try {
            // Percent signs stand for bytes, of which a message that is not in base64 may have any.
            query = new QueryStringDecoder(path.toString(), StandardCharsets.ISO_8859_1).parameters();
        } catch (IllegalArgumentException e) {
            return null;
        }
        String encoding = first(query, ENCODING);
        String message = first(query, MESSAGE);
        return encoding == null || message == null
                ? null
                : new ConnectQuery(
                        first(query, "connect"),
                        encoding,
                        message,
                        "1".equals(first(query, "base64")),
                        first(query, "compression"));
    }

    private static @Nullable String first(Map<String, List<String>> query, String name) {
        List<String> values = query.get(name);
        return values == null ? null : values.get(0);
    }

    /** Whether it says of itself that it is Connect's. */
    boolean isMarked() {
        return CURRENT.equals(version);
    }

    /** @throws tern.rpc.RpcException INVALID_ARGUMENT for another version; none is fine */
    void checkVersion() {
        if (version != null && !isMarked()) {
            throw ConnectHeaders.invalid("connect is '" + version + "' in the query; this server speaks " + CURRENT);
        }
    }

    /** @throws tern.rpc.RpcException INVALID_ARGUMENT if it is not in base64 though it should be */
    byte[] bytes() {
        if (!base64) {
            return message.getBytes(StandardCharsets.ISO_8859_1);
        }
        try {
            return Base64.getUrlDecoder().decode(message);
        } catch (IllegalArgumentException e) {
            throw ConnectHeaders.invalid("the message in the query is not in URL-safe base64");
        }
    }
}
