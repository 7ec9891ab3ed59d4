package tern.rpc.netty.http1;

import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.util.AsciiString;
import java.util.Base64;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Evaluates the header fields that concern the connection: body length, keep-alive, and an upgrade to HTTP/2. Rejects
 * missing, repeated and contradictory fields. Confined to the event loop.
 */
final class Http1Framing {

    /**
     * The maximum size of a request body that is buffered during an upgrade to HTTP/2. A request with a larger body is
     * served over HTTP/1.1.
     */
    private static final int UPGRADED_BODY_BYTES = 64 << 10;

    private static final int LENGTH_DIGITS = 18;
    private static final int SETTING_BYTES = 6;

    private final boolean http10;
    private final @Nullable AsciiString targetHost;
    private Set<String> connection = Set.of();
    private @Nullable AsciiString host;
    private @Nullable AsciiString length;
    private @Nullable AsciiString coding;
    private @Nullable AsciiString expectation;
    private @Nullable AsciiString settings;
    private boolean namesHttp2;
    private boolean settingsTwice;

    /**
     * @param targetHost the host in the request line, which takes precedence over the header field {@code host}; null
     *     if the request line contains only a path
     */
    Http1Framing(boolean http10, @Nullable AsciiString targetHost) {
        this.http10 = http10;
        this.targetHost = targetHost;
    }

    /** @return false if the field is an ordinary header, which this class does not handle */
    boolean take(AsciiString name, AsciiString value) {
        switch (name.toString()) {
            case "host" -> host = once(host, name, value);
            case "content-length" -> length = once(length, name, value);
            case "transfer-encoding" -> coding = once(coding, name, value);
            case "expect" -> expectation = once(expectation, name, value);
            case "connection" -> addConnection(tokens(value));
            case "upgrade" -> namesHttp2 |= tokens(value).contains("h2c");
            case "http2-settings" -> {
                settingsTwice |= settings != null;
                settings = value;
            }
            case "te", "keep-alive", "proxy-connection" -> {
                // a field that concerns only the connection is ignored
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    private static AsciiString once(@Nullable AsciiString before, AsciiString name, AsciiString value) {
        if (before != null) {
            throw Http1Violation.badRequest("the header field " + name + " occurs twice");
        }
        return value;
    }

    /**
     * Adds the tokens of a {@code Connection} field to the set. The set is not copied, because copies for up to 128
     * fields would take quadratic time.
     */
    private void addConnection(Set<String> tokens) {
        if (connection.isEmpty()) {
            connection = tokens;
        } else {
            connection.addAll(tokens);
        }
    }

    private static Set<String> tokens(AsciiString value) {
        Set<String> tokens = new HashSet<>();
        for (String token : value.toString().toLowerCase(Locale.ROOT).split(",")) {
            tokens.add(token.trim());
        }
        return tokens;
    }

    /** Returns the request line and headers, after all header fields have arrived. */
    Http1Head head(Http2Headers headers) {
        checkHost(headers);
        long bodyBytes = bodyBytes();
        if (length != null) {
            headers.set("content-length", length);
        }
        boolean saysKeepAlive = connection.contains("keep-alive");
        boolean keepsAlive = !connection.contains("close") && (!http10 || saysKeepAlive);
        return new Http1Head(
                headers, http10, saysKeepAlive, keepsAlive, expectsContinue(), bodyBytes, upgrade(bodyBytes));
    }

    private void checkHost(Http2Headers headers) {
        AsciiString current = host;
        if (current == null) {
            if (!http10) {
                throw Http1Violation.badRequest("the header field host is missing");
            }
        } else if (!Http1Characters.isHost(current)) {
            throw Http1Violation.badRequest("the header field host is not a host name with an optional port");
        } else {
            headers.authority(current);
        }
        AsciiString named = targetHost;
        if (named != null) {
            if (!Http1Characters.isHost(named)) {
                throw Http1Violation.badRequest("the target of the request has no host name with an optional port");
            }
            headers.authority(named);
        }
    }

    private long bodyBytes() {
        AsciiString claimed = length;
        if (coding != null) {
            if (claimed != null) {
                throw Http1Violation.badRequest("content-length and transfer-encoding contradict each other");
            }
            if (http10 || !coding.contentEqualsIgnoreCase("chunked")) {
                throw Http1Violation.badRequest("transfer-encoding may only be 'chunked', and only in HTTP/1.1");
            }
            return Http1Head.CHUNKED;
        }
        if (claimed == null) {
            return 0;
        }
        if (claimed.isEmpty() || claimed.length() > LENGTH_DIGITS) {
            throw Http1Violation.badRequest("content-length does not have 1 to " + LENGTH_DIGITS + " digits");
        }
        for (int i = 0; i < claimed.length(); i++) {
            if (claimed.charAt(i) < '0' || claimed.charAt(i) > '9') {
                throw Http1Violation.badRequest("content-length is not a number");
            }
        }
        return claimed.parseLong();
    }

    private boolean expectsContinue() {
        AsciiString expected = expectation;
        if (http10 || expected == null) {
            return false;
        }
        if (!expected.contentEqualsIgnoreCase("100-continue")) {
            throw new Http1Violation(HttpResponseStatus.EXPECTATION_FAILED, "only 100-continue can be expected");
        }
        return true;
    }

    /**
     * Returns the HTTP/2 settings in an upgrade request; null if no upgrade is requested. An incomplete upgrade
     * request is served over HTTP/1.1 (RFC 7540, 3.2).
     */
    private @Nullable Http2Settings upgrade(long bodyBytes) {
        AsciiString encoded = settings;
        if (http10
                || !namesHttp2
                || encoded == null
                || settingsTwice
                || !connection.contains("upgrade")
                || !connection.contains("http2-settings")
                || bodyBytes < 0
                || bodyBytes > UPGRADED_BODY_BYTES) {
            return null;
        }
        try {
            return settings(Base64.getUrlDecoder().decode(encoded.toString()));
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    /** Decodes the payload of a SETTINGS frame. */
    private static Http2Settings settings(byte[] bytes) {
        if (bytes.length % SETTING_BYTES != 0) {
            throw new IllegalArgumentException(bytes.length + " bytes of settings");
        }
        Http2Settings settings = new Http2Settings();
        for (int i = 0; i < bytes.length; i += SETTING_BYTES) {
            int key = (bytes[i] & 0xFF) << 8 | (bytes[i + 1] & 0xFF);
            long value = 0;
            for (int at = i + 2; at < i + SETTING_BYTES; at++) {
                value = value << 8 | (bytes[at] & 0xFF);
            }
            settings.put((char) key, Long.valueOf(value));
        }
        return settings;
    }
}
