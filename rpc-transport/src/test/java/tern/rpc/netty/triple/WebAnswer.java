package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.List;
import java.util.Map;

/** An HTTP answer for tests. The values of each name keep their order. */
record WebAnswer(int status, Map<String, List<String>> headers, byte[] body, Map<String, List<String>> trailers) {

    /** Returns all values of a name joined by commas; empty if there is none. */
    String header(String name) {
        return String.join(", ", headers.getOrDefault(name, List.of()));
    }

    String text() {
        return new String(body, UTF_8);
    }
}
