package tern.rpc.netty.http1;

import io.netty.util.AsciiString;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A complete answer of HTTP/1.x.
 *
 * @param fields names in lower case, without fields about the connection
 * @param body the body is its first {@code bodyBytes} bytes
 */
public record Http1Answer(int status, List<Map.Entry<CharSequence, CharSequence>> fields, byte[] body, int bodyBytes) {

    /** The first value of a field; null if there is none. */
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
