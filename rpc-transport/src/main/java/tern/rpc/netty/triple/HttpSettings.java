package tern.rpc.netty.triple;

import java.util.Set;

/**
 * The optional HTTP features of a server. Immutable.
 *
 * @param cors the other origins whose pages may make calls
 * @param formBodies whether arguments may be sent as a form, {@code application/x-www-form-urlencoded}
 * @param textBodies whether the argument of a method with one parameter may be sent as {@code text/plain}
 * @param allowedHosts the host names that requests may contain, without ports; {@code *.shop.example} for all
 *     subdomains; empty to allow any host
 */
public record HttpSettings(Cors cors, boolean formBodies, boolean textBodies, Set<String> allowedHosts) {

    /** @throws IllegalArgumentException if a name is not a host name; the message contains the name */
    public HttpSettings {
        allowedHosts = new AllowedHosts(allowedHosts).names();
    }

    /** Creates settings that allow any host. */
    public HttpSettings(Cors cors, boolean formBodies, boolean textBodies) {
        this(cors, formBodies, textBodies, Set.of());
    }

    /**
     * Creates settings with all optional features turned off. Browsers send forms and plain text to other origins
     * without asking the server first, so any web page could call a server that accepts these bodies.
     */
    public static HttpSettings defaults() {
        return new HttpSettings(Cors.off(), false, false);
    }
}
