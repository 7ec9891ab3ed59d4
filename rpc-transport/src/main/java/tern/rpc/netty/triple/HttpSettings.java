package tern.rpc.netty.triple;

/**
 * What a server takes by HTTP beyond calls with JSON and protobuf. Immutable.
 *
 * @param cors which pages of other sites may call
 * @param formBodies whether arguments may come as a form, {@code application/x-www-form-urlencoded}
 * @param textBodies whether the one argument of a method may come as {@code text/plain}
 */
public record HttpSettings(Cors cors, boolean formBodies, boolean textBodies) {

    /** Nothing of it: browsers send forms and text across sites without asking. */
    public static HttpSettings defaults() {
        return new HttpSettings(Cors.off(), false, false);
    }
}
