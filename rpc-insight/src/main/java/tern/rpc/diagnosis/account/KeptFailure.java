package tern.rpc.diagnosis.account;

import java.lang.ref.SoftReference;
import tern.rpc.Thrown;

/**
 * The failure of a recorded call, stored so that it occupies little memory. A failure may refer to the arguments of the
 * call, for example in its message, and an argument may be several MiB in size.
 *
 * <p>A failure with long messages is replaced by a {@link Forgotten} with the same stack trace. Other failures are
 * replaced when the process has little memory.
 */
final class KeptFailure {

    /** A failure is replaced if its messages have more than {@value} characters in total. */
    static final int MAX_CHARACTERS = 16 << 10;

    /** Replaces a failure that is no longer stored. The message is the class name of the failure. */
    static final class Forgotten extends RuntimeException {

        private static final long serialVersionUID = 1L;

        private Forgotten(String type, StackTraceElement[] trace) {
            super(type, null, false, true);
            setStackTrace(trace);
        }
    }

    private final SoftReference<Throwable> failure;
    private final String type;

    private KeptFailure(Throwable failure, String type) {
        this.failure = new SoftReference<>(failure);
        this.type = type;
    }

    static KeptFailure of(Throwable failure) {
        String type = failure.getClass().getName();
        boolean isLong = Thrown.isLong(failure, MAX_CHARACTERS);
        return new KeptFailure(isLong ? new Forgotten(type, Thrown.trace(failure)) : failure, type);
    }

    /** Returns the failure. If it is no longer stored, returns a {@link Forgotten} with the same class name. */
    Throwable get() {
        Throwable known = failure.get();
        return known == null ? new Forgotten(type, new StackTraceElement[0]) : known;
    }

    /** Simulates, for tests, a garbage collection while memory is short. */
    void clear() {
        failure.clear();
    }
}
