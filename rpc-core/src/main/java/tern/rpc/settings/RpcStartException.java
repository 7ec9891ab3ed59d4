package tern.rpc.settings;

import org.jspecify.annotations.Nullable;

/** Thrown when the application cannot start because of a problem that its developer can fix. */
public class RpcStartException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String action;

    /**
     * @param description the problem and its location
     * @param action the change that the developer must make
     */
    public RpcStartException(String description, String action, @Nullable Throwable cause) {
        super(description, cause);
        this.action = action;
    }

    /** Returns the change to make, as a sentence. */
    public String action() {
        return action;
    }
}
