package tern.rpc.netty.http1;

import io.netty.util.AsciiString;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A complete answer of HTTP/1.x.
 *
 * @param fields the header fields with names in lower case, without those about the connection
 * @param body an array whose first {@code bodyBytes} bytes are the body
 */
public record Http1Answer(int status, List<Map.Entry<CharSequence, CharSequence>> fields, byte[] body, int bodyBytes) {

    /** The first value of a header field; null if there is none. */
    @Nullable
    public String field(AsciiString name) {
        for (Map.Entry<CharSequence, CharSequence> field : fields) {
            if (name.contentEquals(field.getKey())) {
                return field.getValue().toString();
            }
        }
        return null;
    }
}
