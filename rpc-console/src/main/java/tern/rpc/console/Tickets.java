package tern.rpc.console;

import java.nio.charset.StandardCharsets;

/**
 * Creates the JSON body that replaces the body of a checked request. The new body contains only the ticket, because
 * Spring Boot accepts only flat JSON objects with short strings as an endpoint's input.
 */
final class Tickets {

    private Tickets() {}

    static byte[] body(String ticket) {
        return ("{\"ticket\":\"" + ticket + "\"}").getBytes(StandardCharsets.UTF_8);
    }
}
