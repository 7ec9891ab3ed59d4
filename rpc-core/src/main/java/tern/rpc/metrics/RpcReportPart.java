package tern.rpc.metrics;

import org.jspecify.annotations.Nullable;

/** A part of the report, shown under {@code /actuator/rpc/} followed by its name. Every bean of this type is shown. */
public interface RpcReportPart {

    /** The last element of the path, such as {@code diagnosis}. */
    String name();

    /** The current report, which is converted to JSON. */
    Object report();

    /** The report as text for people; null if the part has no text. */
    default @Nullable String text() {
        return null;
    }

    /**
     * Runs the action of this part, for a POST. Must not block.
     *
     * @return whether the action was started; null if the part has none
     */
    default @Nullable Boolean act() {
        return null;
    }
}
