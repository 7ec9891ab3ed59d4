package tern.rpc.grpc;

import io.grpc.Metadata;
import io.grpc.Metadata.Key;
import java.util.Locale;

/**
 * Converts between gRPC's metadata and Tern's metadata. In gRPC, the name of a binary value must end in {@code -bin};
 * Tern does not require this.
 */
final class GrpcMetadata {

    private static final String BINARY = Metadata.BINARY_HEADER_SUFFIX;

    /**
     * The prefix of the names that gRPC reserves for itself, such as the names of the status, message and encoding
     * headers.
     */
    private static final String RESERVED = "grpc-";

    private GrpcMetadata() {}

    /** Converts Tern's metadata to gRPC's. Names that gRPC does not permit are omitted. */
    static Metadata from(tern.rpc.Metadata metadata) {
        Metadata converted = new Metadata();
        metadata.forEach((name, value) -> {
            // The name is checked for ASCII first, because converting it to lower case would turn some non-ASCII
            // letters into ASCII letters.
            if (isAscii(name)) {
                put(converted, name.toLowerCase(Locale.ROOT), value);
            }
        });
        return converted;
    }

    private static boolean isAscii(String name) {
        for (int i = 0; i < name.length(); i++) {
            if (name.charAt(i) > 0x7F) {
                return false;
            }
        }
        return true;
    }

    private static void put(Metadata converted, String name, Object value) {
        try {
            if (value instanceof byte[] bytes) {
                String binary = name.endsWith(BINARY) ? name : name + BINARY;
                converted.put(Key.of(binary, Metadata.BINARY_BYTE_MARSHALLER), bytes);
            } else if (!name.endsWith(BINARY)) {
                converted.put(Key.of(name, Metadata.ASCII_STRING_MARSHALLER), (String) value);
            }
        } catch (IllegalArgumentException e) {
            // gRPC does not permit the name, so a gRPC service could not read the value.
        }
    }

    static void addTo(tern.rpc.Metadata metadata, Metadata added) {
        for (String name : added.keys()) {
            if (name.startsWith(RESERVED)) {
                continue;
            }
            if (name.endsWith(BINARY)) {
                Iterable<byte[]> values = added.getAll(Key.of(name, Metadata.BINARY_BYTE_MARSHALLER));
                if (values != null) {
                    values.forEach(value -> metadata.add(name, value));
                }
            } else {
                Iterable<String> values = added.getAll(Key.of(name, Metadata.ASCII_STRING_MARSHALLER));
                if (values != null) {
                    values.forEach(value -> metadata.add(name, value));
                }
            }
        }
    }
}
