package tern.rpc.console;

import java.nio.charset.StandardCharsets;

/**
 * Creates the JSON body that replaces the body of a checked request. The new body contains only the ticket, because
 * Spring Boot accepts only a flat JSON object with short strings as the input of an endpoint.
 */
final class Tickets {

    private Tickets() {}

    static byte[] body(String ticket) {
        return ("{\"ticket\":\"" + ticket + "\"}").getBytes(StandardCharsets.UTF_8);
    }
}
