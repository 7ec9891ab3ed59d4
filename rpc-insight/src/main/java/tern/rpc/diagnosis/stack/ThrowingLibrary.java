package tern.rpc.diagnosis.stack;

import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.pool.ApplicationCode;

/** Finds the client library that threw an exception, even if Tern does not measure this client. */
public final class ThrowingLibrary {

    private ThrowingLibrary() {}

    /**
     * Returns the kind of the client library that threw one of the given exceptions; null if no known library threw
     * one.
     *
     * @param chain the exceptions, each followed by its cause
     */
    public static @Nullable Kind of(List<Throwable> chain) {
        for (int i = chain.size() - 1; i >= 0; i--) {
            Kind kind = of(chain.get(i));
            if (kind != null) {
                return kind;
            }
        }
        return null;
    }

    /**
     * Returns the kind of the client library that threw the exception: the library that contains its class, or the
     * innermost library on its stack that application code called. Returns null if there is none.
     */
    public static @Nullable Kind of(Throwable failure) {
        Kind kind = of(failure.getClass().getName());
        if (kind != null) {
            return kind;
        }
        StackTraceElement[] frames = failure.getStackTrace();
        Predicate<String> application = ApplicationCode.ownerIn(frames);
        for (StackTraceElement frame : frames) {
            if (application.test(frame.getClassName())) {
                return null;
            }
            kind = of(frame.getClassName());
            if (kind != null) {
                return kind;
            }
        }
        return null;
    }

    private static @Nullable Kind of(String type) {
        for (Libraries.Library library : Libraries.LIBRARIES) {
            if (type.startsWith(library.prefix())) {
                return library.kind();
            }
        }
        return null;
    }
}
