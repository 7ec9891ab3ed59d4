package tern.rpc.netty.triple;

import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The path and the query of a request: {@code /service/method~overload.format?name=value} (docs/wire-protocol.md 4.1).
 *
 * @param path the path, which contains only the service and the method
 * @param overload the first letters of the parameter types; null if the path does not contain them
 * @param format the format in the path; null if the path does not contain it
 * @param query the decoded query parameters
 */
record JsonTarget(
        String path, @Nullable String overload, @Nullable String format, Map<String, List<String>> query) {

    private static final int MAX_PARAMETERS = 1_024;

    /** The decoder replaces bytes that are not UTF-8 with this character. */
    private static final char REPLACEMENT = '\uFFFD';

    private static final String ENCODED_REPLACEMENT = "%EF%BF%BD";

    /**
     * Parses a request target.
     *
     * @throws HttpRefusal with status 400 if the target cannot be decoded
     */
    static JsonTarget of(@Nullable CharSequence target) {
        if (target == null) { // some requests have no path, for example CONNECT requests
            throw new HttpRefusal(HttpResponseStatus.METHOD_NOT_ALLOWED, "the request has no path", "allow", "POST");
        }
        QueryStringDecoder decoder =
                new QueryStringDecoder(target.toString(), StandardCharsets.UTF_8, true, MAX_PARAMETERS + 1, true);
        String path = decoded(decoder);
        if (path.length() > 1 && path.endsWith("/")) {
            path = path.substring(0, path.length() - 1);
        }
        String format = null;
        for (String known : List.of("json", "txt")) {
            if (path.endsWith('.' + known)) {
                format = known;
                path = path.substring(0, path.length() - known.length() - 1);
            }
        }
        int tilde = path.indexOf('~', path.lastIndexOf('/') + 1);
        String overload = tilde < 0 ? null : path.substring(tilde + 1);
        return new JsonTarget(tilde < 0 ? path : path.substring(0, tilde), overload, format, parameters(decoder));
    }

    /** Decodes the parameters of a form. */
    static Map<String, List<String>> form(byte[] bytes, int length) {
        String text = new String(bytes, 0, length, StandardCharsets.UTF_8);
        Charset charset = StandardCharsets.UTF_8;
        return parameters(new QueryStringDecoder(text, charset, false, MAX_PARAMETERS + 1, true));
    }

    private static String decoded(QueryStringDecoder decoder) {
        try {
            return decoder.path();
        } catch (IllegalArgumentException e) {
            throw malformed();
        }
    }

    private static Map<String, List<String>> parameters(QueryStringDecoder decoder) {
        Map<String, List<String>> parameters;
        try {
            parameters = decoder.parameters();
        } catch (IllegalArgumentException e) {
            throw malformed();
        }
        int count = 0;
        for (Map.Entry<String, List<String>> parameter : parameters.entrySet()) {
            requireUtf8(parameter.getKey(), decoder);
            parameter.getValue().forEach(value -> requireUtf8(value, decoder));
            count += parameter.getValue().size();
        }
        if (count > MAX_PARAMETERS) {
            throw new HttpRefusal(HttpResponseStatus.BAD_REQUEST, "more than " + MAX_PARAMETERS + " parameters");
        }
        return parameters;
    }

    /**
     * Rejects percent-encoded bytes that are not UTF-8. The decoder replaces such bytes without an error, so the method
     * would receive different text than the caller sent.
     */
    private static void requireUtf8(String text, QueryStringDecoder decoder) {
        if (text.indexOf(REPLACEMENT) >= 0
                && decoder.uri().indexOf(REPLACEMENT) < 0
                && !decoder.uri().toUpperCase(Locale.ROOT).contains(ENCODED_REPLACEMENT)) {
            throw new HttpRefusal(HttpResponseStatus.BAD_REQUEST, "the percent-encoded bytes are not UTF-8");
        }
    }

    private static HttpRefusal malformed() {
        return new HttpRefusal(
                HttpResponseStatus.BAD_REQUEST, "a percent sign is not followed by two hexadecimal digits");
    }

    @Nullable
    String parameter(String name) {
        List<String> values = query.get(name);
        return values == null ? null : values.get(0);
    }
}
