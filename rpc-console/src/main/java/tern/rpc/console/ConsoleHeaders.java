package tern.rpc.console;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The headers of the console's responses, and functions that read the headers of requests to the console. */
final class ConsoleHeaders {

    private static final Map<String, String> SAFE = safe();

    private ConsoleHeaders() {}

    private static Map<String, String> safe() {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put(
                "Content-Security-Policy",
                "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
                        + " base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
        headers.put("X-Content-Type-Options", "nosniff");
        headers.put("X-Frame-Options", "DENY");
        headers.put("Referrer-Policy", "no-referrer");
        headers.put("Cross-Origin-Opener-Policy", "same-origin");
        headers.put("Cross-Origin-Resource-Policy", "same-origin");
        return headers;
    }

    /** Returns the security headers of every response, including error responses. */
    static Map<String, String> safety() {
        return SAFE;
    }

    /**
     * Returns the part of the path after the endpoint's path, without the leading slash. Returns an empty string for
     * the endpoint itself.
     */
    static String nameIn(String pathBelowEndpoint) {
        return pathBelowEndpoint.startsWith("/") ? pathBelowEndpoint.substring(1) : pathBelowEndpoint;
    }

    /**
     * Returns whether the client accepts gzip-compressed responses.
     *
     * @param accepted the values of the {@code Accept-Encoding} headers
     */
    static boolean acceptsGzip(List<String> accepted) {
        for (String value : accepted) {
            for (String part : value.toLowerCase(Locale.ROOT).split(",")) {
                String[] coding = part.strip().split("\\s*;\\s*");
                if (coding[0].equals("gzip")) {
                    return coding.length == 1 || !coding[1].matches("q\\s*=\\s*0(\\.0*)?");
                }
            }
        }
        return false;
    }

    /**
     * Returns whether the browser's cache already contains the version of a file that has the given ETag.
     *
     * @param ifNoneMatch the values of the request's {@code If-None-Match} headers
     */
    static boolean has(List<String> ifNoneMatch, String tag) {
        return ifNoneMatch.stream().anyMatch(value -> value.contains(tag));
    }
}
