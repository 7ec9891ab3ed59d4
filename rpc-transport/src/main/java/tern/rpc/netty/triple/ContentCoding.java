package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.PeerText;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;

/** The headers that say how messages are compressed, under whichever names. */
final class ContentCoding {

    private static final String GZIP = "gzip";

    private ContentCoding() {}

    /**
     * Whether messages with this header may be compressed.
     *
     * @param name of the header, for the message
     * @throws RpcException UNIMPLEMENTED if it names another coding
     */
    static boolean isGzip(String name, @Nullable CharSequence coding) {
        if (coding == null || coding.length() == 0 || "identity".contentEquals(coding)) {
            return false;
        }
        if (GZIP.contentEquals(coding)) {
            return true;
        }
        throw RpcException.refusal(
                StatusCode.UNIMPLEMENTED,
                name + " '" + PeerText.name(coding.toString()) + "' is not served; use identity or gzip",
                Executed.NO);
    }

    /** The same where another coding is no matter. */
    static boolean mayBeGzip(@Nullable CharSequence coding) {
        return coding != null && GZIP.contentEquals(coding);
    }

    /** Whether gzip is among the codings that a caller reads, by the headers of that name. */
    static boolean listsGzip(Http2Headers head, AsciiString name) {
        CharSequence first = head.get(name);
        return first != null && (GZIP.contentEquals(first) || listsGzip(head.getAll(name)));
    }

    /** Whether gzip is among the codings that a caller reads, unless it has the weight 0. */
    static boolean listsGzip(List<CharSequence> accepted) {
        for (CharSequence list : accepted) {
            for (String coding : list.toString().split(",")) {
                String[] parts = coding.split(";", 2);
                if (parts[0].trim().equals(GZIP) && (parts.length == 1 || !isZero(parts[1].trim()))) {
                    return true;
                }
            }
        }
        return false;
    }

    private static boolean isZero(String weight) {
        return weight.matches("q=0(\\.0*)?");
    }
}
