package tern.rpc.diagnosis.account;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;

/**
 * A snapshot of a call's activity.
 *
 * @param phase the phase of the call's ledger
 * @param part the activity of the call's thread
 * @param path the stack frames of the application, the innermost first. If the thread is waiting for a lock, these are
 *     the frames of the last owner in the chain of lock owners, starting at the frame that acquired the lock. If the
 *     thread is waiting for the initialization of a class, these are the frames of the thread that initializes the
 *     class
 * @param called the method of a library or of the JDK called by the application's innermost frame, such as {@code
 *     Matcher.matches}; null if there is none
 * @param doing if the thread is waiting for a lock, the application's innermost frame in the last owner of the lock; if
 *     it waits for the initialization of a class, the application's innermost frame in the waiting thread; otherwise
 *     null
 * @param owner the name of the thread that holds the lock or initializes the class; null if the thread is waiting for
 *     neither
 * @param isApart whether the activity does not belong to the operation during which it was found, such as the lookup of
 *     a host name, or a pause of the client
 * @param ownerPhase the phase of the call that holds the lock; null if no call holds the lock
 * @param cpuNanos the thread's total processor time so far; -1 if unknown
 * @param delayNanos the total time that the thread has waited for a processor so far; -1 if unknown
 * @param ownersPart the activity of the lock's last owner; null if the thread is not waiting for a lock, or if the
 *     owner is unknown
 * @param operation the operation that the thread runs, or the asynchronous operation whose result it waits for, such as
 *     an exchange of a WebClient; null if there is none or its name is unknown
 */
public record Sample(
        long atNanos,
        Phase phase,
        Part part,
        List<StackTraceElement> path,
        @Nullable String called,
        @Nullable StackTraceElement doing,
        @Nullable String owner,
        boolean isApart,
        @Nullable Phase ownerPhase,
        long cpuNanos,
        long delayNanos,
        @Nullable Part ownersPart,
        NamedTimes.@Nullable Entry operation) {

    public Sample {
        path = List.copyOf(path);
    }

    /** Creates a sample in which the activity of a lock's owner and the name of an operation are unknown. */
    public Sample(
            long atNanos,
            Phase phase,
            Part part,
            List<StackTraceElement> path,
            @Nullable String called,
            @Nullable StackTraceElement doing,
            @Nullable String owner,
            boolean isApart,
            @Nullable Phase ownerPhase,
            long cpuNanos,
            long delayNanos) {
        this(atNanos, phase, part, path, called, doing, owner, isApart, ownerPhase, cpuNanos, delayNanos, null, null);
    }

    /** Returns the application's innermost frame; null if there is none. */
    @Nullable
    public StackTraceElement line() {
        return path.isEmpty() ? null : path.get(0);
    }

    /**
     * Returns a copy whose time is attributed to an outer stack frame of the application.
     *
     * @param frame the index of this frame in {@link #path}
     * @param place the name of this frame
     */
    public Sample at(int frame, String place) {
        return with(phase, new Part(part.kind(), place), path.subList(frame, path.size()), this);
    }

    /** Returns a copy of this sample that shows the same wait as a later sample of the same call. */
    public Sample waitingAs(Sample later) {
        return with(phase, later.part, later.path, later);
    }

    /** Returns a copy of this sample whose activity has the given name. */
    public Sample named(String name) {
        return at(0, name);
    }

    /** Returns the phase of the call, or the kind of the asynchronous operation that its thread waits for. */
    public Phase work() {
        return operation == null ? phase : operation.kind();
    }

    /** Returns the name of the operation that the thread runs or waits for; null if it is unknown. */
    public @Nullable String nameOfOperation() {
        return operation == null ? null : operation.name();
    }

    /** Returns whether the call's thread is waiting for the result of a known asynchronous operation. */
    public boolean isAwaiting() {
        return operation != null && operation.kind() != phase;
    }

    /** Returns a copy of this sample as if the call's thread ran the asynchronous operation itself. */
    public Sample duringOperation() {
        return with(work(), part, path, this);
    }

    /**
     * Returns a copy with the given phase, activity and stack frames.
     *
     * @param seen the sample from which the copy takes the called method, the lock owner and the operation
     */
    private Sample with(Phase phase, Part part, List<StackTraceElement> path, Sample seen) {
        return new Sample(
                atNanos,
                phase,
                part,
                path,
                seen.called,
                seen.doing,
                seen.owner,
                isApart,
                seen.ownerPhase,
                cpuNanos,
                delayNanos,
                seen.ownersPart,
                seen.operation);
    }

    public boolean isOwn() {
        return phase == Phase.OWN;
    }

    /** Returns whether the activity is work or a wait within this process rather than an operation of a peer. */
    public boolean isOwnWork() {
        return isOwn() || isApart;
    }

    public boolean isComputing() {
        return part.kind() == Part.Kind.COMPUTING;
    }
}
