package tern.rpc.settings;

import org.jspecify.annotations.Nullable;

/** Thrown when a property has an unusable value. */
public final class InvalidPropertyException extends RpcStartException {

    private static final long serialVersionUID = 1L;

    private final String property;

    public InvalidPropertyException(String property, Object value, String expected) {
        super(
                property + " is " + value + "; expected " + expected,
                "Correct the value of " + property + ", or leave the property out.",
                null);
        this.property = property;
    }

    /**
     * Creates an exception with the given description and action.
     *
     * @param description the problem; begins with the name of the property
     * @param action the change that the developer must make
     */
    public InvalidPropertyException(String property, String description, String action, @Nullable Throwable cause) {
        super(description, action, cause);
        this.property = property;
    }

    /** Returns the property name. */
    public String property() {
        return property;
    }
}
