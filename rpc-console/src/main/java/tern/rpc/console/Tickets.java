package tern.rpc.console;

import java.nio.charset.StandardCharsets;

/**
 * Creates the JSON body that replaces the body of a checked request. It contains only the ticket, because Spring
 * Boot passes an endpoint only a flat JSON object with short strings.
 */
final class Tickets {

    private Tickets() {}

    static byte[] body(String ticket) {
        return ("{\"ticket\":\"" + ticket + "\"}").getBytes(StandardCharsets.UTF_8);
    }
}
