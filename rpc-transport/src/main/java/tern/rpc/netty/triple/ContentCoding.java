package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.util.Iterator;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tern.rpc.PeerText;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;

/**
 * Reads the headers that declare the compression of messages. Each protocol uses different header names. The names of
 * codings are case-insensitive, and {@code x-gzip} is an old name of gzip.
 */
final class ContentCoding {

    private static final String GZIP = "gzip";
    private static final String OLD_GZIP = "x-gzip";
    private static final Pattern ZERO = Pattern.compile("[qQ]=0(\\.0*)?");

    private ContentCoding() {}

    /**
     * Returns whether the coding is gzip.
     *
     * @param name the name of the header, for error messages
     * @throws RpcException UNIMPLEMENTED for any coding except gzip and identity
     */
    static boolean isGzip(String name, @Nullable CharSequence coding) {
        if (coding == null || coding.length() == 0 || isNamed("identity", coding)) {
            return false;
        }
        if (isNamedGzip(coding)) {
            return true;
        }
        throw RpcException.refusal(
                StatusCode.UNIMPLEMENTED,
                name + " '" + PeerText.name(coding.toString()) + "' is not served; use identity or gzip",
                Executed.NO);
    }

    /** Returns whether the coding is gzip. Other codings, known or unknown, count as no compression. */
    static boolean mayBeGzip(@Nullable CharSequence coding) {
        return coding != null && isNamedGzip(coding);
    }

    /** Returns whether one of the request headers with this name says that the caller accepts gzip. */
    static boolean listsGzip(Http2Headers head, AsciiString name) {
        CharSequence first = head.get(name);
        return first != null && (GZIP.contentEquals(first) || listsGzip(head.valueIterator(name)));
    }

    /** Returns whether the accepted codings include gzip. Gzip with a weight of 0 is not accepted. */
    private static boolean listsGzip(Iterator<CharSequence> accepted) {
        for (String coding : HeaderList.elements(accepted)) {
            String[] parts = coding.split(";", 2);
            if (isNamedGzip(parts[0].trim()) && (parts.length == 1 || !isZero(parts[1].trim()))) {
                return true;
            }
        }
        return false;
    }

    private static boolean isNamedGzip(CharSequence coding) {
        return isNamed(GZIP, coding) || isNamed(OLD_GZIP, coding);
    }

    private static boolean isNamed(String name, CharSequence coding) {
        return AsciiString.contentEqualsIgnoreCase(name, coding);
    }

    private static boolean isZero(String weight) {
        return ZERO.matcher(weight).matches();
    }
}
