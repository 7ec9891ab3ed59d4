package tern.rpc.settings;

/** Thrown if the value of a property cannot be used. */
public final class InvalidPropertyException extends RpcStartException {

    private static final long serialVersionUID = 1L;

    private final String property;

    public InvalidPropertyException(String property, Object value, String expected) {
        super(
                property + " is " + value + "; expected " + expected,
                "Give " + property + " a value of " + expected + ", or leave it out.",
                null);
        this.property = property;
    }

    /** Returns the property name. */
    public String property() {
        return property;
    }
}
