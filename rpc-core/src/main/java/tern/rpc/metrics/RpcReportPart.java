package tern.rpc.metrics;

import org.jspecify.annotations.Nullable;

/**
 * A part of the report that Spring Boot Actuator serves. Its path is {@code /actuator/rpc/} followed by its name. The
 * report consists of all beans of this type.
 */
public interface RpcReportPart {

    /** Returns the name of this part, which is the last element of its path, such as {@code diagnosis}. */
    String name();

    /** Returns the current content of this part of the report, which the caller converts to JSON. */
    Object report();

    /** Returns this part of the report as plain text, or null if there is only a JSON form. */
    default @Nullable String text() {
        return null;
    }

    /**
     * Runs the action of this part in response to a POST request. Must not block.
     *
     * @return whether the action was started, or null if the part has no action
     */
    default @Nullable Boolean act() {
        return null;
    }
}
