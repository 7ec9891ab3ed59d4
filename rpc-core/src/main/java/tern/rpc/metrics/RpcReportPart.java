package tern.rpc.metrics;

import org.jspecify.annotations.Nullable;

/** A part of the endpoint, shown under {@code /actuator/rpc/} and its name. Every bean of this type is shown. */
public interface RpcReportPart {

    /** The last element of the path: {@code diagnosis}. */
    String name();

    /** The current report, which becomes JSON. */
    Object report();

    /** The report as text for people; null if the part has no text. */
    default @Nullable String text() {
        return null;
    }

    /**
     * Does what the part can do on request, for a POST. Must not block.
     *
     * @return whether it was started; null if the part can do nothing
     */
    default @Nullable Boolean act() {
        return null;
    }
}
