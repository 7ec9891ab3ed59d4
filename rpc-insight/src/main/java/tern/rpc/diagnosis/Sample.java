package tern.rpc.diagnosis;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;

/**
 * The activity of a call at one moment.
 *
 * @param phase the phase of its ledger
 * @param part the activity of its thread
 * @param path the frames of the application, the innermost first. If the thread waits for a lock, these are frames of
 *     the last owner in the chain, starting at the frame that holds the lock
 * @param called the method of another library or of the platform that the innermost frame of the application calls, such as
 *     {@code Matcher.matches}; null if there is none
 * @param doing the innermost frame of the application of the last owner; null if the thread waits for no lock
 * @param resolving whether the thread looked up a host name
 * @param ownerPhase the phase of the call that holds the lock; null if no call holds it
 * @param cpuNanos the processor time of its thread so far; -1 if unknown
 * @param delayNanos the time that its thread has waited for a processor so far; -1 if unknown
 */
record Sample(
        long atNanos,
        Phase phase,
        Part part,
        List<StackTraceElement> path,
        @Nullable String called,
        @Nullable StackTraceElement doing,
        boolean resolving,
        @Nullable Phase ownerPhase,
        long cpuNanos,
        long delayNanos) {

    Sample {
        path = List.copyOf(path);
    }

    /** The innermost frame of the application; null if there is none. */
    @Nullable
    StackTraceElement line() {
        return path.isEmpty() ? null : path.get(0);
    }

    /** Returns a copy that counts for an outer frame of its path. */
    Sample at(int frame, String place) {
        return new Sample(
                atNanos,
                phase,
                new Part(part.kind(), place),
                path.subList(frame, path.size()),
                called,
                doing,
                resolving,
                ownerPhase,
                cpuNanos,
                delayNanos);
    }

    /** Returns a copy under another name of its part. */
    Sample named(String name) {
        return at(0, name);
    }

    boolean isOwn() {
        return phase == Phase.OWN;
    }

    boolean isComputing() {
        return part.kind() == Part.Kind.COMPUTING;
    }
}
