package io.smallrye;

import java.util.concurrent.Semaphore;
import java.util.function.Supplier;

/**
 * Stands in for a library that limits concurrent calls. The package of this class does not count as application code.
 */
public final class Permits {

    private Permits() {}

    public static String with(Semaphore permits, Supplier<String> work) {
        permits.acquireUninterruptibly();
        try {
            return work.get();
        } finally {
            permits.release();
        }
    }
}
