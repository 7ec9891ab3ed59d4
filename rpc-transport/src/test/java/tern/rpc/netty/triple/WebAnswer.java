package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.List;
import java.util.Map;

/** An HTTP answer for tests. The order of each header's values is preserved. */
record WebAnswer(int status, Map<String, List<String>> headers, byte[] body, Map<String, List<String>> trailers) {

    /** Returns all values of a header, joined with commas; an empty string if there are none. */
    String header(String name) {
        return String.join(", ", headers.getOrDefault(name, List.of()));
    }

    String text() {
        return new String(body, UTF_8);
    }
}
