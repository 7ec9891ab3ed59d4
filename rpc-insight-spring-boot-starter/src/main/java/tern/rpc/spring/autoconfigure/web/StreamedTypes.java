package tern.rpc.spring.autoconfigure.web;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The media types of responses whose duration depends on the receiver, such as event streams. */
final class StreamedTypes {

    private static final List<String> TYPES = List.of(
            "text/event-stream",
            "application/x-ndjson",
            "application/ndjson",
            "application/stream+json",
            "multipart/x-mixed-replace");

    private StreamedTypes() {}

    static boolean isOne(@Nullable String contentType) {
        return contentType != null
                && TYPES.stream()
                        .anyMatch(type -> contentType.toLowerCase(Locale.ROOT).startsWith(type));
    }
}
