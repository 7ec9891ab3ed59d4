package tern.rpc.netty.triple;

import java.io.IOException;
import java.util.concurrent.CompletionException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Makes one step of a call fail, for tests that check whether a failed call leaves resources in use. Only one failure
 * is injected at a time. The failure affects only threads whose names match a pattern.
 */
final class InjectedFailure {

    /** The kind of throwable that the injected failure throws. */
    enum Kind {
        MEMORY,
        STACK,
        LINKAGE,
        ASSERTION,
        OWN_ERROR,
        RUNTIME,
        CHECKED,
        INTERRUPTED,
        UNREADABLE,
        OWN_CAUSE,
        CIRCLE;

        Throwable make() {
            return switch (this) {
                case MEMORY -> new OutOfMemoryError("injected");
                case STACK -> new StackOverflowError();
                case LINKAGE -> new NoClassDefFoundError("injected/Missing");
                case ASSERTION -> new AssertionError("injected");
                case OWN_ERROR -> new OwnError();
                case RUNTIME -> new IllegalStateException("injected");
                case CHECKED -> new IOException("injected");
                case INTERRUPTED -> new InterruptedException("injected");
                case UNREADABLE -> new Unreadable();
                case OWN_CAUSE -> new OwnCause();
                case CIRCLE -> circle();
            };
        }

        private static Throwable circle() {
            Wrapper outer = new Wrapper();
            outer.initCause(new Wrapper().initCause(outer));
            return outer;
        }
    }

    private static final class OwnError extends Error {
        private static final long serialVersionUID = 1L;
    }

    private static final class Unreadable extends RuntimeException {
        private static final long serialVersionUID = 1L;

        @Override
        public String getMessage() {
            throw new IllegalStateException("no message");
        }

        @Override
        public synchronized Throwable getCause() {
            throw new AssertionError("no cause");
        }

        @Override
        public StackTraceElement[] getStackTrace() {
            throw new OutOfMemoryError("no trace");
        }

        @Override
        public String toString() {
            throw new StackOverflowError();
        }
    }

    private static final class OwnCause extends CompletionException {
        private static final long serialVersionUID = 1L;

        @Override
        public synchronized Throwable getCause() {
            return this;
        }
    }

    private static final class Wrapper extends CompletionException {
        private static final long serialVersionUID = 1L;
    }

    private static volatile Pattern threads = Pattern.compile("");
    private static volatile @Nullable Enum<?> step;
    private static volatile Kind kind = Kind.RUNTIME;

    private InjectedFailure() {}

    /** From this point on, makes the given step of a call fail on threads whose names match the pattern. */
    static void inject(Enum<?> at, Kind thrown, Pattern threadNames) {
        kind = thrown;
        threads = threadNames;
        step = at;
    }

    static void clear() {
        step = null;
    }

    /** Returns whether the given step of a call must fail now. */
    static boolean isAt(Enum<?> here) {
        return step == here && threads.matcher(Thread.currentThread().getName()).matches();
    }

    /** Throws the injected throwable, which can be a checked exception, if this step of the call must fail. */
    static void at(Enum<?> here) {
        if (isAt(here)) {
            InjectedFailure.<RuntimeException>sneak(kind.make());
        }
    }

    static Throwable made() {
        return kind.make();
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void sneak(Throwable thrown) throws T {
        throw (T) thrown;
    }
}
