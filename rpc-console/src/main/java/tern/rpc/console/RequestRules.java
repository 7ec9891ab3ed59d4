package tern.rpc.console;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tern.rpc.PeerText;

/**
 * The rules for a request that makes a call. The rules prevent pages on other sites from making calls through a browser
 * that has access to the console. A page on another site can submit forms and send simple requests. Such a page can
 * neither send the header {@link #MARK} nor choose the value of the {@code Origin} header.
 */
final class RequestRules {

    /** The header that each request to make a call must contain, with the value {@code 1}. */
    static final String MARK = "X-Rpc-Console";

    private RequestRules() {}

    /**
     * The parts of a request that the rules check. Each list contains all values of one header, including repeated
     * values.
     */
    record Head(
            List<String> marks,
            List<String> origins,
            List<String> hosts,
            List<String> fetchSites,
            List<String> contentTypes,
            List<String> contentEncodings,
            String serverName,
            int serverPort,
            String scheme,
            long contentLength) {}

    /**
     * @throws WrongRequestException 403, 413 or 415 if the request breaks a rule; the message explains how to fix the
     *     request
     */
    static void check(Head head) {
        if (!head.marks().equals(List.of("1"))) {
            throw new WrongRequestException(403, "the header " + MARK + ": 1 is missing or repeated; send it once");
        }
        for (String site : head.fetchSites()) {
            if (!site.equals("same-origin")) {
                throw new WrongRequestException(
                        403,
                        "the header Sec-Fetch-Site is " + PeerText.name(site) + "; pages of other sites cannot call");
            }
        }
        checkOrigin(head);
        checkType(head);
        if (head.contentLength() > CallRequest.MAX_BYTES) {
            throw tooLarge(head.contentLength() + " bytes");
        }
    }

    static WrongRequestException tooLarge(String size) {
        return new WrongRequestException(
                413, "the request has " + size + "; at most " + CallRequest.MAX_BYTES + " are read");
    }

    private static void checkOrigin(Head head) {
        if (head.origins().isEmpty()) {
            // A request without the Origin header does not come from a modern browser, because modern browsers always
            // send this header with such requests. In any case, check() requires the MARK header.
            return;
        }
        String origin = head.origins().get(0);
        if (head.origins().size() > 1 || !isOwn(origin, head)) {
            throw new WrongRequestException(
                    403,
                    "the header Origin is " + PeerText.name(String.join(", ", head.origins())) + ", but the host is "
                            + PeerText.name(String.join(", ", head.hosts()))
                            + "; let the proxy pass on the header Host, or set server.forward-headers-strategy");
        }
    }

    private static boolean isOwn(String origin, Head head) {
        URI uri;
        try {
            uri = new URI(origin);
        } catch (URISyntaxException e) {
            return false;
        }
        String scheme = uri.getScheme();
        String host = uri.getHost();
        if (scheme == null
                || host == null
                || uri.getUserInfo() != null
                || !(scheme.equalsIgnoreCase("http") || scheme.equalsIgnoreCase("https"))
                || !(uri.getPath() == null || uri.getPath().isEmpty())) {
            return false;
        }
        int port = uri.getPort() < 0 ? defaultPort(scheme) : uri.getPort();
        boolean asResolved = host.equalsIgnoreCase(bracketed(head.serverName()))
                && port == (head.serverPort() < 0 ? defaultPort(head.scheme()) : head.serverPort());
        return asResolved || (head.hosts().size() == 1 && isHost(head.hosts().get(0), host, port, scheme));
    }

    /**
     * Returns whether a {@code Host} header contains the given host and port. If the header has no port, the scheme's
     * default port applies.
     */
    private static boolean isHost(String header, String host, int port, String scheme) {
        URI uri;
        try {
            uri = new URI(scheme + "://" + header.strip());
        } catch (URISyntaxException e) {
            return false;
        }
        return uri.getHost() != null
                && uri.getUserInfo() == null
                && uri.getHost().equalsIgnoreCase(host)
                && (uri.getPort() < 0 ? defaultPort(scheme) : uri.getPort()) == port;
    }

    private static String bracketed(@Nullable String host) {
        return host != null && host.indexOf(':') >= 0 && !host.startsWith("[") ? "[" + host + "]" : "" + host;
    }

    private static int defaultPort(String scheme) {
        return scheme.equalsIgnoreCase("https") ? 443 : 80;
    }

    private static void checkType(Head head) {
        String type = head.contentTypes().size() == 1
                ? head.contentTypes().get(0).toLowerCase(Locale.ROOT).replaceAll("\\s", "")
                : "";
        boolean json = type.equals("application/json") || type.matches("application/json;charset=\"?utf-8\"?");
        if (!json) {
            throw new WrongRequestException(
                    415,
                    "the header Content-Type is " + PeerText.name(String.join(", ", head.contentTypes()))
                            + "; expected application/json");
        }
        if (!head.contentEncodings().isEmpty()) {
            throw new WrongRequestException(
                    415,
                    "the header Content-Encoding is " + PeerText.name(String.join(", ", head.contentEncodings()))
                            + "; send plain JSON");
        }
    }
}
