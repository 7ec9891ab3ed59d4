package tern.rpc.console;

import java.nio.charset.StandardCharsets;

/** The body that replaces the body of a checked request. Boot reads only flat JSON with short texts. */
final class Tickets {

    private Tickets() {}

    static byte[] body(String ticket) {
        return ("{\"ticket\":\"" + ticket + "\"}").getBytes(StandardCharsets.UTF_8);
    }
}
