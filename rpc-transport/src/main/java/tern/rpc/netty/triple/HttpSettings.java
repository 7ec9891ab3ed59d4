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

    /** @param cors the other origins whose pages may make calls */
    public HttpSettings withCors(Cors cors) {
        return new HttpSettings(cors, formBodies, textBodies, allowedHosts);
    }

    /** @param allowed whether arguments may be sent as a form; web pages of any site can send forms */
    public HttpSettings withFormBodies(boolean allowed) {
        return new HttpSettings(cors, allowed, textBodies, allowedHosts);
    }

    /**
     * @param allowed whether an argument may be sent as {@code text/plain}; web pages of any site can send plain text
     */
    public HttpSettings withTextBodies(boolean allowed) {
        return new HttpSettings(cors, formBodies, allowed, allowedHosts);
    }

    /**
     * @param names the host names that requests may contain; empty to allow any host
     * @throws IllegalArgumentException if a name is not a host name; the message contains the name
     */
    public HttpSettings withAllowedHosts(Set<String> names) {
        return new HttpSettings(cors, formBodies, textBodies, names);
    }
}
