package tern.rpc.netty.http1;

import io.netty.util.AsciiString;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A complete HTTP/1.x answer.
 *
 * @param fields the header fields with lower-case names, without the fields that concern only the connection
 * @param body an array whose first {@code bodyBytes} bytes are the body
 */
public record Http1Answer(int status, List<Map.Entry<CharSequence, CharSequence>> fields, byte[] body, int bodyBytes) {

    /** Returns the first value of a header field; null if the answer does not contain the field. */
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
