package tern.rpc.spring.autoconfigure.pool;

import java.net.URI;

/** Names of HTTP exchanges for diagnoses: {@code GET stock:8080}. */
final class HttpName {

    private HttpName() {}

    static String of(String method, URI address) {
        return method + " " + address.getHost() + (address.getPort() < 0 ? "" : ":" + address.getPort());
    }
}
