package tern.rpc.netty.http1;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * Parses the request lines and headers on a connection (RFC 9112), one request after another, more strictly than
 * required. Input that other parsers might interpret differently is rejected, because a proxy in front of the server
 * might use such a parser. Confined to the event loop.
 */
public final class Http1HeadReader {

    /** The maximum length of a request line (docs/limits.md). */
    private static final int LINE_BYTES = 4 << 10;

    private static final int FIELDS_BYTES = 8 << 10;
    public static final int MAX_FIELDS = 128;

    private static final AsciiString PROTOCOL = AsciiString.cached("HTTP/");
    private static final AsciiString HTTP_1_1 = AsciiString.cached("HTTP/1.1");
    private static final AsciiString HTTP_1_0 = AsciiString.cached("HTTP/1.0");
    private static final AsciiString SCHEME = AsciiString.cached("http");
    private static final AsciiString[] ABSOLUTE = {AsciiString.cached("http://"), AsciiString.cached("https://")};
    private static final AsciiString EVERYTHING = AsciiString.cached("*");
    private static final AsciiString ROOT = AsciiString.cached("/");

    /**
     * The maximum number of header lines that are compared with the lines of the previous request. Clients usually
     * repeat their header lines, and a repeated line need not be parsed.
     */
    private static final int REPEATED_FIELDS = 16;

    private static final int REPEATED_BYTES = 256;

    /** A valid header line, with the name and value parsed from it. */
    private record Field(AsciiString line, AsciiString name, AsciiString value) {}

    /** @param target the path with its query; or {@code *} */
    private record RequestLine(
            AsciiString line,
            AsciiString method,
            AsciiString target,
            @Nullable AsciiString host) {}

    private final @Nullable Field[] last = new @Nullable Field[REPEATED_FIELDS];
    private @Nullable RequestLine lastRequest;
    private final Http1Line lines = new Http1Line();
    private @Nullable Http2Headers headers;
    private Http1Framing framing = new Http1Framing(false, null);
    private boolean emptyLineSeen;
    private int fields;
    private int fieldBytes;

    /**
     * Parses the request line and headers of the next request.
     *
     * @return the request line and headers; null until they are complete
     * @throws Http1Violation if the bytes are invalid or too long
     */
    @Nullable
    public Http1Head read(ByteBuf in) {
        if (headers == null && !readRequestLine(in)) {
            return null;
        }
        Http2Headers current = headers;
        while (current != null) {
            Field same = fields < REPEATED_FIELDS ? last[fields] : null;
            if (same != null && fieldBytes + same.line.length() <= FIELDS_BYTES && lines.repeats(in, same.line)) {
                fieldBytes += same.line.length() + 2;
                fields++;
                take(same.name, same.value, current);
                continue;
            }
            AsciiString line = lines.read(
                    in,
                    FIELDS_BYTES - fieldBytes,
                    HttpResponseStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
                    "the part of the header that is left of " + FIELDS_BYTES + " bytes");
            if (line == null) {
                return null;
            }
            if (line.isEmpty()) {
                headers = null;
                emptyLineSeen = false;
                fields = 0;
                fieldBytes = 0;
                return framing.head(current);
            }
            readField(line, current);
        }
        return null;
    }

    /** Returns whether at least one byte of the next request has arrived. */
    public boolean hasBegun() {
        return headers != null;
    }

    /** @return whether the request line is complete */
    private boolean readRequestLine(ByteBuf in) {
        RequestLine same = lastRequest;
        if (same != null && lines.repeats(in, same.line)) {
            headers = new DefaultHttp2Headers(false, REPEATED_FIELDS)
                    .method(same.method)
                    .scheme(SCHEME)
                    .path(same.target);
            framing = new Http1Framing(false, same.host);
            return true;
        }
        AsciiString line = lines.read(in, LINE_BYTES, HttpResponseStatus.REQUEST_URI_TOO_LONG, "the request line");
        // some clients send an empty line after a body; one empty line is skipped
        if (line != null && line.isEmpty() && !emptyLineSeen) {
            emptyLineSeen = true;
            line = lines.read(in, LINE_BYTES, HttpResponseStatus.REQUEST_URI_TOO_LONG, "the request line");
        }
        if (line == null) {
            return false;
        }
        int first = line.indexOf(' ', 0);
        int second = first < 0 ? -1 : line.indexOf(' ', first + 1);
        if (second < 0 || line.indexOf(' ', second + 1) >= 0) {
            throw Http1Violation.badRequest("the request line is not a method, a path and a version");
        }
        AsciiString method = line.subSequence(0, first);
        AsciiString target = line.subSequence(first + 1, second);
        AsciiString version = line.subSequence(second + 1);
        boolean http10 = HTTP_1_0.contentEquals(version);
        checkVersion(http10, version);
        int absolute = absoluteAt(target);
        RequestLine request =
                absolute > 0 ? absolute(line, method, target, absolute) : new RequestLine(line, method, target, null);
        checkTarget(method, request.target);
        headers = new DefaultHttp2Headers(false).method(method).scheme(SCHEME).path(request.target);
        framing = new Http1Framing(http10, request.host);
        if (!http10 && line.length() <= REPEATED_BYTES) {
            lastRequest = request;
        }
        return true;
    }

    /**
     * If the target is in absolute form (a complete URI, which clients send to proxies), returns the index of the host;
     * otherwise 0.
     */
    private static int absoluteAt(AsciiString target) {
        for (AsciiString scheme : ABSOLUTE) {
            if (AsciiString.regionMatches(target, true, 0, scheme, 0, scheme.length())) {
                return scheme.length();
            }
        }
        return 0;
    }

    /** Divides a target in absolute form (a complete URI) into host and path (RFC 9112, 3.2.2 and 3.2.4). */
    private static RequestLine absolute(AsciiString line, AsciiString method, AsciiString target, int host) {
        int end = host;
        while (end < target.length() && target.charAt(end) != '/' && target.charAt(end) != '?') {
            end++;
        }
        AsciiString path = target.subSequence(end);
        if (path.isEmpty()) {
            path = HttpMethod.OPTIONS.asciiName().contentEquals(method) ? EVERYTHING : ROOT;
        } else if (path.charAt(0) == '?') {
            path = ROOT.concat(path);
        }
        return new RequestLine(line, method, path, target.subSequence(host, end));
    }

    private static void checkVersion(boolean http10, AsciiString version) {
        if (http10 || HTTP_1_1.contentEquals(version)) {
            return;
        }
        if (!version.regionMatches(true, 0, PROTOCOL, 0, PROTOCOL.length())) {
            throw Http1Violation.notHttp("the first line does not end in a version of HTTP");
        }
        boolean other = version.length() == 8
                && version.startsWith(PROTOCOL)
                && Character.isDigit(version.charAt(5))
                && version.charAt(6) == '.'
                && Character.isDigit(version.charAt(7));
        throw other
                ? new Http1Violation(
                        HttpResponseStatus.HTTP_VERSION_NOT_SUPPORTED,
                        version + " is not supported in this form; use HTTP/1.1")
                : Http1Violation.badRequest("the request line does not end in a version of HTTP");
    }

    private static void checkTarget(AsciiString method, AsciiString target) {
        if (!Http1Characters.isToken(method)) {
            throw Http1Violation.badRequest("the method contains characters that are not allowed");
        }
        boolean everything = target.contentEquals(EVERYTHING)
                && HttpMethod.OPTIONS.asciiName().contentEquals(method);
        if (!everything && (!Http1Characters.isTarget(target) || target.charAt(0) != '/')) {
            throw Http1Violation.badRequest(
                    "the target of the request is not a path that begins with /, and not an http URI");
        }
    }

    private void readField(AsciiString line, Http2Headers current) {
        fieldBytes += line.length() + 2;
        if (++fields > MAX_FIELDS) {
            throw new Http1Violation(
                    HttpResponseStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "more than " + MAX_FIELDS + " header fields");
        }
        int colon = line.indexOf(':', 0);
        AsciiString name = colon < 0 ? AsciiString.EMPTY_STRING : line.subSequence(0, colon);
        // A line that begins with a space is rejected too. Obsolete line folding (RFC 9112, 5.2) treats such a line as
        // a continuation of the previous line.
        if (!Http1Characters.isToken(name)) {
            throw Http1Violation.badRequest("header field " + fields + " does not begin with a name and a colon");
        }
        AsciiString value = Http1Characters.withoutSpace(line, colon + 1);
        AsciiString lower = name.toLowerCase();
        if (!Http1Characters.isValue(value)) {
            throw Http1Violation.badRequest("the header field " + lower + " has control characters");
        }
        if (fields <= REPEATED_FIELDS && line.length() <= REPEATED_BYTES) {
            last[fields - 1] = new Field(line, lower, value);
        }
        take(lower, value, current);
    }

    private void take(AsciiString name, AsciiString value, Http2Headers current) {
        if (!framing.take(name, value)) {
            current.add(name, value);
        }
    }
}
