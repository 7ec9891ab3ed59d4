package tern.rpc.netty.triple;

import io.netty.handler.codec.http.QueryStringDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The query of a Connect GET request.
 *
 * @param version the protocol version; null if the query does not have one
 * @param encoding {@code json} or {@code proto}
 * @param message the message with one character per byte
 * @param compression the compression of the message; null for none
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

    /** The maximum number of parameters that are read. The Connect protocol defines five parameters. */
    private static final int MAX_PARAMETERS = 16;

    /**
     * Parses the query. Returns null if it is malformed, or does not contain both a message and the message's encoding.
     */
    static @Nullable ConnectQuery of(CharSequence path) {
        Map<String, List<String>> query;
        try {
            // Percent escapes are decoded to bytes, because a message that is not in base64 can contain any byte.
            query = new QueryStringDecoder(path.toString(), StandardCharsets.ISO_8859_1, true, MAX_PARAMETERS)
                    .parameters();
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

    /** Returns whether the query contains the parameter with the version of the Connect protocol. */
    boolean isMarked() {
        return CURRENT.equals(version);
    }

    /**
     * Checks the protocol version, which is optional.
     *
     * @throws tern.rpc.RpcException INVALID_ARGUMENT for an unknown version
     */
    void checkVersion() {
        if (version != null && !isMarked()) {
            throw ConnectHeaders.invalid("connect is '" + version + "' in the query; this server speaks " + CURRENT);
        }
    }

    /**
     * Returns the bytes of the message.
     *
     * @throws tern.rpc.RpcException INVALID_ARGUMENT if the query declares base64 but the message is not valid base64
     */
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
