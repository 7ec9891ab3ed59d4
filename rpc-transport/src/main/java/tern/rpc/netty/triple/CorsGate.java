package tern.rpc.netty.triple;

import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.PeerText;

/**
 * Admits or refuses requests from browsers before the called method is known. Without this check, any web page could
 * make a visitor's browser call services in the visitor's network. Thread-safe.
 */
final class CorsGate {

    private static final AsciiString ORIGIN = AsciiString.cached("origin");
    private static final AsciiString REQUEST_METHOD = AsciiString.cached("access-control-request-method");
    private static final AsciiString REQUEST_HEADERS = AsciiString.cached("access-control-request-headers");
    private static final AsciiString ALLOW_ORIGIN = AsciiString.cached("access-control-allow-origin");
    private static final AsciiString ALLOW_CREDENTIALS = AsciiString.cached("access-control-allow-credentials");
    private static final AsciiString ALLOW_METHODS = AsciiString.cached("access-control-allow-methods");
    private static final AsciiString ALLOW_HEADERS = AsciiString.cached("access-control-allow-headers");
    private static final AsciiString MAX_AGE = AsciiString.cached("access-control-max-age");
    private static final AsciiString EXPOSE_HEADERS = AsciiString.cached("access-control-expose-headers");
    private static final AsciiString VARY = AsciiString.cached("vary");
    private static final AsciiString VARY_ORIGIN = AsciiString.cached("origin");
    private static final AsciiString VARY_PREFLIGHT =
            AsciiString.cached("origin, access-control-request-method, access-control-request-headers");
    private static final AsciiString METHODS = AsciiString.cached("GET,HEAD,POST,PUT,PATCH,DELETE");
    private static final AsciiString METHODS_AND_OPTIONS = AsciiString.cached("GET,HEAD,POST,PUT,PATCH,DELETE,OPTIONS");
    private static final Pattern NAMES = Pattern.compile("[A-Za-z0-9_., -]+");

    private static final Logger LOG = LoggerFactory.getLogger(CorsGate.class);
    // callers choose the origins, so the number of logged origins is limited
    private static final int MAX_LOGGED_ORIGINS = 100;

    private final Cors cors;
    private final Set<String> logged = ConcurrentHashMap.newKeySet();

    CorsGate(Cors cors) {
        this.cors = cors;
    }

    /**
     * Checks the origin of a request.
     *
     * @return true if the request may become a call; false if the request has been answered
     * @throws HttpRefusal with status 403 if pages from this origin must not make calls
     */
    boolean pass(HttpExchange exchange) {
        Http2Headers head = exchange.head();
        CharSequence origin = head.get(ORIGIN);
        boolean options = is(head, HttpMethod.OPTIONS);
        if (origin != null && cors.allows(origin)) {
            if (options && head.contains(REQUEST_METHOD)) {
                answer(exchange, preflight(head, origin));
                return false;
            }
            exchange.onHead(answer -> addTo(answer, origin));
        } else if (origin != null && !is(head, HttpMethod.GET) && !is(head, HttpMethod.HEAD)) {
            logOnce(exchange, origin, "may not make calls");
            if (!options || !cors.isOff()) {
                throw new HttpRefusal(
                        HttpResponseStatus.FORBIDDEN,
                        "web pages of this origin may not make calls; add the origin to"
                                + " rpc.server.cors.allowed-origins");
            }
        } else {
            if (origin != null) {
                logOnce(exchange, origin, "cannot read the answer of its call");
            }
            if (!cors.isOff()) {
                exchange.onHead(answer -> answer.add(VARY, VARY_ORIGIN));
            }
        }
        if (options) {
            answer(exchange, new DefaultHttp2Headers(false, 2).set("allow", METHODS_AND_OPTIONS));
        }
        return !options;
    }

    /** Logs each refused origin once, because a browser does not show the reason to the page or its developer. */
    private void logOnce(HttpExchange exchange, CharSequence origin, String consequence) {
        if (logged.size() >= MAX_LOGGED_ORIGINS) {
            return;
        }
        String name = PeerText.name(origin.toString());
        if (logged.add(name)) {
            LOG.warn(
                    "A page of {} in a browser at {} {}, because rpc.server.cors.allowed-origins does"
                            + " not contain its origin. If the page is yours, add {}",
                    name,
                    exchange.connection().remoteAddress(),
                    consequence,
                    name.equals("null") ? "the site that serves it; a page opened from a file has no origin" : name);
        }
    }

    private static boolean is(Http2Headers head, HttpMethod method) {
        return method.asciiName().contentEquals(head.method());
    }

    private static void answer(HttpExchange exchange, Http2Headers head) {
        head.status(HttpResponseStatus.NO_CONTENT.codeAsText());
        exchange.send(new HttpWrite(exchange, head, null, null, true));
    }

    private Http2Headers preflight(Http2Headers request, CharSequence origin) {
        Http2Headers head = new DefaultHttp2Headers(false, 8);
        allow(head, origin);
        head.set(VARY, VARY_PREFLIGHT);
        head.set(ALLOW_METHODS, METHODS);
        CharSequence wanted = request.get(REQUEST_HEADERS);
        if (!cors.headers().isEmpty()) {
            head.set(ALLOW_HEADERS, String.join(", ", new TreeSet<>(cors.headers())));
        } else if (wanted != null
                && wanted.length() <= HeaderList.MAX_CHARS
                && NAMES.matcher(wanted).matches()) {
            head.set(ALLOW_HEADERS, wanted);
        }
        head.setLong(MAX_AGE, cors.maxAge().toSeconds());
        return head;
    }

    private void allow(Http2Headers head, CharSequence origin) {
        head.set(ALLOW_ORIGIN, cors.allowsAll() ? "*" : origin);
        if (cors.credentials()) {
            head.set(ALLOW_CREDENTIALS, "true");
        }
    }

    /** Adds the CORS headers that permit the page to read the answer. */
    private void addTo(Http2Headers answer, CharSequence origin) {
        Set<String> names = new TreeSet<>();
        for (Map.Entry<CharSequence, CharSequence> field : answer) {
            if (field.getKey().charAt(0) != ':') {
                names.add(field.getKey().toString());
            }
        }
        allow(answer, origin);
        answer.set(EXPOSE_HEADERS, String.join(", ", names));
        answer.add(VARY, VARY_ORIGIN);
    }
}
