package tern.rpc.interop;

import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tern.rpc.Metadata;
import tern.rpc.interop.conformance.Header;

/**
 * Converts between Tern's metadata and the headers of the conformance suite. The suite writes headers as they appear on
 * the wire: binary values are in base64, and the names of binary headers end in {@code -bin}.
 */
final class ConformanceHeaders {

    private static final String BINARY = "-bin";

    private ConformanceHeaders() {}

    static void add(List<Header> headers, Metadata metadata) {
        for (Header header : headers) {
            String name = header.getName();
            if (name.toLowerCase(Locale.ROOT).endsWith(BINARY)) {
                String bare = name.substring(0, name.length() - BINARY.length());
                header.getValueList()
                        .forEach(value -> metadata.add(bare, Base64.getDecoder().decode(value)));
            } else {
                header.getValueList().forEach(value -> metadata.add(name, value));
            }
        }
    }

    /** Merges all values of a name into one header. The values keep their original order. */
    static List<Header> of(Metadata metadata) {
        Map<String, Header.Builder> headers = new LinkedHashMap<>();
        metadata.forEach((name, value) -> {
            if (value instanceof byte[] bytes) {
                addTo(
                        headers,
                        name + BINARY,
                        Base64.getEncoder().withoutPadding().encodeToString(bytes));
            } else {
                addTo(headers, name, (String) value);
            }
        });
        return headers.values().stream().map(Header.Builder::build).toList();
    }

    private static void addTo(Map<String, Header.Builder> headers, String name, String value) {
        headers.computeIfAbsent(
                        name.toLowerCase(Locale.ROOT),
                        key -> Header.newBuilder().setName(key))
                .addValue(value);
    }
}
