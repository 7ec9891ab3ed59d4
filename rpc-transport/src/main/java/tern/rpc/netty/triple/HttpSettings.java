package tern.rpc.netty.triple;

import java.util.Set;

/**
 * What a server takes by HTTP beyond calls with JSON and protobuf. Immutable.
 *
 * @param cors which pages of other sites may call
 * @param formBodies whether arguments may come as a form, {@code application/x-www-form-urlencoded}
 * @param textBodies whether the one argument of a method may come as {@code text/plain}
 * @param allowedHosts names by which requests may call the server, without ports; {@code *.shop.example} for all below;
 *     empty for every host
 */
public record HttpSettings(Cors cors, boolean formBodies, boolean textBodies, Set<String> allowedHosts) {

    /** @throws IllegalArgumentException naming what is no host */
    public HttpSettings {
        allowedHosts = new AllowedHosts(allowedHosts).names();
    }

    /** For every host. */
    public HttpSettings(Cors cors, boolean formBodies, boolean textBodies) {
        this(cors, formBodies, textBodies, Set.of());
    }

    /** Nothing of it: browsers send forms and text across sites without asking. */
    public static HttpSettings defaults() {
        return new HttpSettings(Cors.off(), false, false);
    }

    /** @param replaced which pages of other sites may call */
    public HttpSettings withCors(Cors replaced) {
        return new HttpSettings(replaced, formBodies, textBodies, allowedHosts);
    }

    /** @param allowed whether arguments may come as a form; pages of any site can send one */
    public HttpSettings withFormBodies(boolean allowed) {
        return new HttpSettings(cors, allowed, textBodies, allowedHosts);
    }

    /** @param allowed whether an argument may come as {@code text/plain}; pages of any site can send it */
    public HttpSettings withTextBodies(boolean allowed) {
        return new HttpSettings(cors, formBodies, allowed, allowedHosts);
    }

    /**
     * @param names by which requests may call the server; empty for every host
     * @throws IllegalArgumentException naming what is no host
     */
    public HttpSettings withAllowedHosts(Set<String> names) {
        return new HttpSettings(cors, formBodies, textBodies, names);
    }
}
