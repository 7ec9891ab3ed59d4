package tern.rpc.netty.triple;

import io.netty.util.AsciiString;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import tern.rpc.Metadata;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.netty.HeadersLeftOut;

/**
 * Converts metadata to HTTP headers or trailers, and back (docs/wire-protocol.md 3.3). Text is sent unchanged. Bytes
 * are sent as base64 under a name with the {@code -bin} suffix. HTTP/2 header names are in lower case, so a separate
 * header contains the original spelling of the names.
 */
final class TripleMetadata {

    private static final String BINARY = "-bin";

    /**
     * The header that contains the name of the calling application. In the metadata, this entry has the same name as in
     * the dubbo protocol.
     */
    private static final String CONSUMER = "tri-consumer-appname";

    private static final String REMOTE_APPLICATION = "remote.application";
    private static final int MAX_ENTRIES = 128;
    private static final int MAX_BYTES = 64 << 10;

    /**
     * The headers reserved by HTTP, gRPC and Triple. Reserved headers are never sent from metadata or received as
     * metadata.
     */
    private static final Set<String> NOT_METADATA = Set.of(
            "te",
            "content-type",
            "content-length",
            "user-agent",
            "host",
            "connection",
            "keep-alive",
            "proxy-connection",
            "transfer-encoding",
            "upgrade",
            "expect",
            "group",
            "interface",
            "path",
            REMOTE_APPLICATION,
            "application",
            "serialization",
            "rest-service-version",
            "rest-service-group",
            "http-status",
            "grpc-status",
            "grpc-message",
            "grpc-status-details-bin",
            "grpc-timeout",
            "grpc-encoding",
            "grpc-accept-encoding",
            "accept",
            "accept-charset",
            "accept-datetime",
            "accept-encoding",
            "accept-language",
            "accept-patch",
            "accept-post",
            "accept-ranges",
            "tri-service-version",
            "tri-service-group",
            "tri-service-timeout",
            CONSUMER,
            "tri-exception-code",
            "tern-executed",
            "tern-one-way",
            HeaderCase.NAME);

    /** The names of common headers that never contain metadata. */
    private static final Set<AsciiString> OF_ANSWERS = Set.of(
            GrpcHeaders.STATUS, GrpcHeaders.CONTENT_TYPE, GrpcHeaders.TIMEOUT, AsciiString.cached("content-length"));

    private static final HeadersLeftOut LEFT_OUT = new HeadersLeftOut("HTTP (tri and http)");

    private TripleMetadata() {}

    /**
     * Returns the metadata in the headers. Accepts {@code Http2Headers}, and HTTP/1.1 headers through
     * {@code HttpHeaders.iteratorCharSequence}.
     *
     * @throws RpcException RESOURCE_EXHAUSTED if there are too many headers or a header is too long
     */
    static Metadata read(Iterable<Map.Entry<CharSequence, CharSequence>> headers) {
        Metadata metadata = new Metadata();
        CharSequence convert = null;
        int bytes = 0;
        for (Map.Entry<CharSequence, CharSequence> header : headers) {
            if (isOfTheProtocol(header.getKey())) {
                continue; // the header is skipped without creating a String for its name
            }
            String name = lower(header.getKey().toString());
            if (isMetadata(name)) {
                bytes += name.length() + header.getValue().length();
                add(metadata, name, header.getValue().toString(), bytes);
                check(metadata.size(), bytes);
            } else if (name.equals(HeaderCase.NAME)) {
                convert = header.getValue();
            } else if (name.equals(CONSUMER)) {
                metadata.put(REMOTE_APPLICATION, header.getValue().toString());
            }
        }
        return convert == null ? metadata : renamed(metadata, HeaderCase.decode(convert));
    }

    private static boolean isOfTheProtocol(CharSequence name) {
        return (name.length() > 0 && name.charAt(0) == ':')
                || (name instanceof AsciiString ascii && OF_ANSWERS.contains(ascii));
    }

    private static String lower(String name) {
        return name.toLowerCase(Locale.ROOT);
    }

    private static boolean isMetadata(String lower) {
        return !lower.isEmpty() && lower.charAt(0) != ':' && !NOT_METADATA.contains(lower);
    }

    private static void add(Metadata metadata, String name, String value, int bytes) {
        if (!name.endsWith(BINARY)) {
            metadata.add(name, value);
            return;
        }
        for (String one : value.split(",")) {
            byte[] decoded = decoded(one.trim());
            if (decoded == null) {
                // the value is not valid base64, so the entry is a string, although its name ends in -bin
                metadata.add(name, value);
                return;
            }
            metadata.add(name, decoded);
            // a single header can contain thousands of values, so the limit is checked here
            check(metadata.size(), bytes);
        }
    }

    private static byte @Nullable [] decoded(String base64) {
        try {
            return StatusDetails.BASE64_DECODER.decode(base64);
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    private static Metadata renamed(Metadata metadata, Map<String, String> original) {
        Metadata renamed = new Metadata();
        metadata.forEach((name, value) -> {
            if (value instanceof byte[] bytes) {
                renamed.add(binary(name, original), bytes);
            } else {
                renamed.add(original.getOrDefault(name, name), (String) value);
            }
        });
        return renamed;
    }

    /**
     * Returns the original spelling of a metadata name. Peers send the original spelling with or without the
     * {@code -bin} suffix.
     */
    private static String binary(String name, Map<String, String> original) {
        String whole = original.get(name);
        if (whole != null) {
            return whole;
        }
        String bare = original.get(name.substring(0, name.length() - BINARY.length()));
        return bare == null ? name : bare + BINARY;
    }

    /**
     * Writes the metadata as headers. Omits names used by HTTP or the protocol, with a warning for each name.
     *
     * @throws RpcException INVALID_ARGUMENT with the name of a header that cannot be written; RESOURCE_EXHAUSTED if
     *     there are too many headers or a header is too long
     */
    static void write(Metadata metadata, BiConsumer<CharSequence, CharSequence> headers) {
        if (!metadata.isEmpty()) {
            Writing writing = new Writing(headers);
            metadata.forEach(writing::write);
            writing.finish();
        }
    }

    private static void check(int entries, int bytes) {
        if (entries > MAX_ENTRIES || bytes > MAX_BYTES) {
            throw RpcException.refusal(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "metadata of " + entries + " entries and " + bytes + " bytes; at most " + MAX_ENTRIES + " and "
                            + MAX_BYTES + " can be sent, so put the rest into the message",
                    Executed.NO);
        }
    }

    private static final class Writing {

        private final BiConsumer<CharSequence, CharSequence> headers;
        private @Nullable Map<String, String> capitals;
        private int entries;
        private int bytes;

        Writing(BiConsumer<CharSequence, CharSequence> headers) {
            this.headers = headers;
        }

        void write(String name, Object value) {
            String lower = lower(name);
            if (!isMetadata(lower)) {
                // services often pass on remote.application, so its omission is not logged
                if (!name.equals(REMOTE_APPLICATION)) {
                    LEFT_OUT.warn(name);
                }
                return;
            }
            String encoded;
            if (value instanceof byte[] binary) {
                lower = lower.endsWith(BINARY) ? lower : lower + BINARY;
                encoded = StatusDetails.BASE64.encodeToString(binary);
            } else {
                encoded = (String) value;
                checkText(name, lower, encoded);
            }
            checkName(name);
            bytes += lower.length() + encoded.length();
            check(++entries, bytes);
            headers.accept(lower, encoded);
            if (!name.equals(lower(name))) {
                capitals = capitals == null ? new HashMap<>() : capitals;
                capitals.put(lower(name), name);
            }
        }

        void finish() {
            if (capitals != null) {
                headers.accept(HeaderCase.NAME, HeaderCase.encode(capitals));
            }
        }

        private static void checkName(String name) {
            for (int i = 0; i < name.length(); i++) {
                char character = name.charAt(i);
                boolean token = character > ' ' && character < 0x7F && "\"(),/:;<=>?@[\\]{}".indexOf(character) < 0;
                if (!token) {
                    throw refused("the name of the header '" + name + "' has the character U+"
                            + String.format(Locale.ROOT, "%04X", (int) character)
                            + "; names may contain letters, digits, '-', '_' and '.'");
                }
            }
        }

        private static void checkText(String name, String lower, String value) {
            if (lower.endsWith(BINARY)) {
                throw refused("the header '" + name + "' has text; a name that ends in -bin is for bytes");
            }
            for (int i = 0; i < value.length(); i++) {
                char character = value.charAt(i);
                if (character < 0x20 || character > 0x7E) {
                    throw refused("the value of the header '" + name + "' has the character U+"
                            + String.format(Locale.ROOT, "%04X", (int) character) + " at position " + i
                            + "; text values may contain only ASCII from space to '~'; send the value as bytes");
                }
            }
        }

        private static RpcException refused(String description) {
            return new RpcException(StatusCode.INVALID_ARGUMENT, description, Executed.NO, null);
        }
    }
}
