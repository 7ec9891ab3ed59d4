package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import tern.rpc.Metadata;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.netty.HeadersLeftOut;

/** Reads and writes the headers of Connect (docs/wire-protocol.md 7.1, from the Connect protocol reference). */
final class ConnectHeaders {

    static final AsciiString PROTOCOL_VERSION = AsciiString.cached("connect-protocol-version");
    static final AsciiString TIMEOUT = AsciiString.cached("connect-timeout-ms");
    static final AsciiString CONTENT_ENCODING = AsciiString.cached("content-encoding");
    static final AsciiString ACCEPT_ENCODING = AsciiString.cached("accept-encoding");
    static final AsciiString STREAM_CONTENT_ENCODING = AsciiString.cached("connect-content-encoding");
    static final AsciiString STREAM_ACCEPT_ENCODING = AsciiString.cached("connect-accept-encoding");
    static final AsciiString GZIP = AsciiString.cached("gzip");

    static final AsciiString TRIPLE_TIMEOUT = AsciiString.cached("tri-service-timeout");
    private static final String RESERVED = "connect-";
    private static final int MAX_DIGITS = 10;

    private static final HeadersLeftOut LEFT_OUT = new HeadersLeftOut("Connect");

    private ConnectHeaders() {}

    /**
     * Checks the protocol version. The header is optional.
     *
     * @throws RpcException INVALID_ARGUMENT for an unknown version
     */
    static void checkVersion(Http2Headers head) {
        CharSequence version = head.get(PROTOCOL_VERSION);
        if (version != null && !"1".contentEquals(version)) {
            throw invalid(PROTOCOL_VERSION + " is '" + version + "'; this server speaks version 1");
        }
    }

    /**
     * Returns the timeout in nanoseconds: the smaller of the timeouts in Connect's header and Triple's header; negative
     * if the request has neither header.
     */
    static long timeoutNanos(Http2Headers head) {
        long connect = timeoutNanos(head, TIMEOUT);
        long triple = timeoutNanos(head, TRIPLE_TIMEOUT);
        return connect < 0 || triple < 0 ? Math.max(connect, triple) : Math.min(connect, triple);
    }

    private static long timeoutNanos(Http2Headers head, AsciiString name) {
        CharSequence text = head.get(name);
        if (text == null) {
            return -1;
        }
        int digits = text.length();
        long millis = 0;
        for (int i = 0; i < digits; i++) {
            char digit = text.charAt(i);
            if (digit < '0' || digit > '9' || digits > MAX_DIGITS) {
                digits = 0;
                break;
            }
            millis = millis * 10 + (digit - '0');
        }
        if (digits == 0) {
            throw invalid(name + " is not a number of milliseconds with 1 to " + MAX_DIGITS + " digits");
        }
        return TimeUnit.MILLISECONDS.toNanos(millis);
    }

    /**
     * Returns whether the caller accepts gzip.
     *
     * @param name the name of the header that lists the accepted codings; without this header, the caller accepts the
     *     coding of its own request
     * @param sentGzip whether the caller's request is compressed with gzip
     */
    static boolean acceptsGzip(Http2Headers head, AsciiString name, boolean sentGzip) {
        return head.contains(name) ? ContentCoding.listsGzip(head, name) : sentGzip;
    }

    /** Returns the application metadata in the given headers. */
    static Metadata metadata(Http2Headers head) {
        List<Map.Entry<CharSequence, CharSequence>> own = new ArrayList<>(head.size());
        for (Map.Entry<CharSequence, CharSequence> header : head) {
            if (!isReserved(header.getKey())) {
                own.add(header);
            }
        }
        return TripleMetadata.read(own);
    }

    /**
     * Writes the application metadata as headers.
     *
     * @throws RpcException if an entry cannot be sent
     */
    static void write(Metadata metadata, BiConsumer<CharSequence, CharSequence> headers) {
        TripleMetadata.write(metadata, (name, value) -> {
            if (isReserved(name)) {
                LEFT_OUT.warn(name.toString());
            } else if (!HeaderCase.NAME.contentEquals(name)) {
                headers.accept(name, value);
            }
        });
    }

    private static boolean isReserved(CharSequence name) {
        return AsciiString.regionMatches(name, true, 0, RESERVED, 0, RESERVED.length())
                || CONTENT_ENCODING.contentEqualsIgnoreCase(name);
    }

    static RpcException invalid(String description) {
        return RpcException.refusal(StatusCode.INVALID_ARGUMENT, description, Executed.NO);
    }
}
