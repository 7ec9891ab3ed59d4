package tern.rpc.grpc;

import io.grpc.Metadata;
import io.grpc.Metadata.Key;
import java.util.Locale;

/** Between gRPC's metadata, where names of binary values must end in {@code -bin}, and Tern's, where they may. */
final class GrpcMetadata {

    private static final String BINARY = Metadata.BINARY_HEADER_SUFFIX;

    /** Names of gRPC itself: status, message, encodings. */
    private static final String RESERVED = "grpc-";

    private GrpcMetadata() {}

    /** Names that gRPC does not allow are left out. */
    static Metadata from(tern.rpc.Metadata metadata) {
        Metadata converted = new Metadata();
        metadata.forEach((name, value) -> {
            if (isAscii(name)) { // some other letters become ASCII in lower case, and the name another one
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
            // The name has characters that are none of gRPC's; a service of gRPC could not ask for it.
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
