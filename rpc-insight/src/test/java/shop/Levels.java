package shop;

import java.util.function.Supplier;

/** Application code that uses a client. The tests expect its frames in stack traces. */
public final class Levels {

    private Levels() {}

    /** Returns the exception that the client threw. */
    public static Exception read(Supplier<Exception> client) {
        return client.get();
    }
}
