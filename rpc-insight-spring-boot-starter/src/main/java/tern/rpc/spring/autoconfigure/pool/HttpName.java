package tern.rpc.spring.autoconfigure.pool;

import java.net.URI;

/** Names of HTTP exchanges for diagnoses, such as {@code GET stock:8080}. */
final class HttpName {

    private HttpName() {}

    static String of(String method, URI address) {
        return method + " " + address.getHost() + (address.getPort() < 0 ? "" : ":" + address.getPort());
    }

    /**
     * The name of an exchange whose answer says that the server failed or refused, such as {@code GET stock:8080 (503)};
     * else the name itself. Other statuses of clients' errors are answers as any other.
     */
    static String of(String name, int status) {
        return status >= 500 || status == 429 ? name + " (" + status + ")" : name;
    }
}
