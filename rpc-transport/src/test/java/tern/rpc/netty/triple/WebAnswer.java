package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.List;
import java.util.Map;

/** An answer for tests: of one name all values, in order. */
record WebAnswer(int status, Map<String, List<String>> headers, byte[] body, Map<String, List<String>> trailers) {

    /** All of one name as one; empty if there is none. */
    String header(String name) {
        return String.join(", ", headers.getOrDefault(name, List.of()));
    }

    String text() {
        return new String(body, UTF_8);
    }
}
