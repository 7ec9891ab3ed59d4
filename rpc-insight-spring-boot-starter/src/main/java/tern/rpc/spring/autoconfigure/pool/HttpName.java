package tern.rpc.spring.autoconfigure.pool;

import java.net.URI;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Names of HTTP exchanges for diagnoses, such as {@code GET stock:8080/levels}. */
final class HttpName {

    private static final Pattern FIRST = Pattern.compile("^(/[a-z][a-z_-]{0,31})(?:[/?]|$)");

    private HttpName() {}

    static String of(String method, URI address) {
        String host = address.getHost() + (address.getPort() < 0 ? "" : ":" + address.getPort());
        return of(method, host, address.getRawPath());
    }

    /** Adds the first part of the path if it is a plain word, because later parts may be values of the call. */
    static String of(String method, String host, @Nullable String path) {
        Matcher first = FIRST.matcher(path == null ? "" : path);
        return method + " " + host + (first.find() ? first.group(1) : "");
    }

    /**
     * The name of an exchange whose answer says that the server failed or refused, such as {@code GET stock:8080 (503)};
     * else the name itself. Other statuses of clients' errors are answers as any other.
     */
    static String of(String name, int status) {
        return status >= 500 || status == 429 ? name + " (" + status + ")" : name;
    }
}
