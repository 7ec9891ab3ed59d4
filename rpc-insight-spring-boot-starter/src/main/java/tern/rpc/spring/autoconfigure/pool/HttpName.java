package tern.rpc.spring.autoconfigure.pool;

import java.io.InterruptedIOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Creates names of HTTP exchanges for diagnoses, such as {@code GET stock:8080/levels}. */
final class HttpName {

    private static final Pattern FIRST = Pattern.compile("^(/[a-z][a-z_-]{0,31})(?:[/?]|$)");

    /** Matches the end of the name of an exchange that was redirected. */
    private static final Pattern REDIRECTED = Pattern.compile("^ \\((?:\\d+ )?redirects? to ");

    /** The statuses of answers that redirect the client to another address. */
    private static final Set<Integer> REDIRECTS = Set.of(301, 302, 303, 307, 308);

    private HttpName() {}

    /**
     * Returns the name of an exchange with the given address. If the address contains no port, the name contains the
     * default port.
     */
    static String of(String method, URI address) {
        return of(method, host(address), address.getRawPath());
    }

    /**
     * Returns the name of an exchange: the method, the host and the first segment of the path. The segment is included
     * only if it is a plain word. Later segments are omitted, because they can contain values from the call.
     */
    static String of(String method, String host, @Nullable String path) {
        Matcher first = FIRST.matcher(path == null ? "" : path);
        return method + " " + host + (first.find() ? first.group(1) : "");
    }

    /**
     * Appends the status to an exchange's name if the status is 429 or at least 500, for example {@code GET stock:8080
     * (503)}. Returns the name unchanged for any other status.
     */
    static String of(String name, int status) {
        return status >= 500 || status == 429 ? name + " (" + status + ")" : name;
    }

    /**
     * Like {@link #of(String, int)}. The name of an exchange that was answered with a redirect also contains the
     * address in the answer, for example {@code GET stock:8080 (redirect to stock-2:8080)}.
     *
     * @param location the address in the answer; null if there is none
     * @param host the host and port of the exchange itself, for addresses without a host
     */
    static String of(String name, int status, @Nullable String location, String host) {
        if (location == null || !REDIRECTS.contains(status)) {
            return of(name, status);
        }
        try {
            URI address = new URI(location);
            return name + " (redirect to " + (address.getHost() == null ? host : host(address)) + ")";
        } catch (URISyntaxException e) {
            return name + " (redirect to " + host + ")";
        }
    }

    /**
     * Returns the name of an exchange in which the client itself followed redirects.
     *
     * @param times the number of redirects
     */
    static String redirected(String name, int status, int times, URI last) {
        return times == 0 || status >= 400
                ? of(name, status)
                : name + (times == 1 ? " (redirect to " : " (" + times + " redirects to ") + host(last) + ")";
    }

    /**
     * Returns whether {@code name} consists of the name of the given exchange and the redirects that the client
     * followed.
     */
    static boolean isRedirected(String name, String exchange) {
        return REDIRECTED
                .matcher(name.startsWith(exchange) ? name.substring(exchange.length()) : "")
                .find();
    }

    /** Returns the host and port of an address. If the address contains no port, the default port is used. */
    static String host(URI address) {
        int port =
                address.getPort() >= 0 ? address.getPort() : "https".equalsIgnoreCase(address.getScheme()) ? 443 : 80;
        return address.getHost() + ":" + port;
    }

    /**
     * Returns the name for an exchange that ended with an exception, such as {@code GET stock:8080 (failed)}. An
     * exchange that timed out keeps its name, because it was slow but did not fail.
     */
    static String of(String name, Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof InterruptedException
                    || cause instanceof InterruptedIOException
                    || cause.getClass().getSimpleName().contains("Timeout")) {
                return name;
            }
        }
        return name + " (failed)";
    }
}
