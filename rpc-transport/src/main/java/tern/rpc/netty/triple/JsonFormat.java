package tern.rpc.netty.triple;

import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tern.rpc.MethodDescriptor;

/** The formats in which JSON calls are answered (docs/wire-protocol.md 4.4). */
enum JsonFormat {
    JSON("application/json", "application/json", Object.class),
    /** Plain text. A caller can request it from methods whose result is a string. */
    TEXT("text/plain", "text/plain; charset=utf-8", String.class),
    /** Raw bytes. A caller can request them from methods whose result is a byte array. */
    BYTES("application/octet-stream", "application/octet-stream", byte[].class);

    private static final JsonFormat[] ALL = values();

    private final String mediaType;
    private final String contentType;
    private final Class<?> result;

    JsonFormat(String mediaType, String contentType, Class<?> result) {
        this.mediaType = mediaType;
        this.contentType = contentType;
        this.result = result;
    }

    String contentType() {
        return contentType;
    }

    /** Returns whether results of the method can be sent in this format. */
    private boolean fits(MethodDescriptor method) {
        return this == JSON || method.result().raw() == result;
    }

    /**
     * Chooses the first format in the {@code accept} header that can represent the method's result. If the header is
     * absent or accepts every media type, uses the given suggestions, which come from the path, the query and the
     * request's content type.
     *
     * @throws HttpRefusal with status 415 if the header excludes all possible formats
     */
    static JsonFormat choose(MethodDescriptor method, Http2Headers request, List<@Nullable String> suggestions) {
        CharSequence first = request.get("accept");
        if (first != null && JSON.mediaType.contentEquals(first)) {
            return JSON;
        }
        if (first == null) {
            return suggested(method, suggestions);
        }
        List<String> accept = HeaderList.elements(request.valueIterator("accept"));
        // empty elements are ignored, and a list without other elements excludes nothing
        accept.removeIf(String::isEmpty);
        if (accept.isEmpty()) {
            return suggested(method, suggestions);
        }
        for (String element : accept) {
            String range = element.split(";", 2)[0].trim().toLowerCase(Locale.ROOT);
            if (range.equals("*/*")) {
                return suggested(method, suggestions);
            }
            for (JsonFormat format : ALL) {
                if (format.fits(method) && format.matches(range)) {
                    return format;
                }
            }
        }
        throw new HttpRefusal(
                HttpResponseStatus.UNSUPPORTED_MEDIA_TYPE,
                "none of '" + String.join(", ", accept) + "' can be answered with; application/json can");
    }

    private boolean matches(String range) {
        return range.equals(mediaType) || range.equals(mediaType.substring(0, mediaType.indexOf('/')) + "/*");
    }

    private static JsonFormat suggested(MethodDescriptor method, List<@Nullable String> suggestions) {
        for (String suggestion : suggestions) {
            JsonFormat named = named(suggestion);
            if (named != null && named.fits(method)) {
                return named;
            }
        }
        return JSON;
    }

    /** Returns the format with the given media type, or with the given short name from a path or query. */
    private static @Nullable JsonFormat named(@Nullable String name) {
        return switch (name == null ? "" : name) {
            case "application/json", "json" -> JSON;
            case "text/plain", "txt", "text" -> TEXT;
            default -> null;
        };
    }
}
