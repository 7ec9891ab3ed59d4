package com.example.office;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** The faults of the office. */
public enum Fault {
    /** Calls do slow work while they hold the monitor of {@link Seals}. */
    LOCK,
    /** The database needs long for one of three statements. */
    STATEMENT,
    /** The provider of {@link Store} answers late. */
    PROVIDER,
    /** The tasks of the executor {@code mail} take long. */
    TASKS,
    /** A code path does not close its connection. The connections stay in use when the fault is taken back. */
    LEAK;

    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(150);

    private static volatile @Nullable Fault planted;

    /** Plants one fault in place of another; null for none. */
    public static void plant(@Nullable Fault fault) {
        planted = fault;
    }

    boolean isPlanted() {
        return planted == this;
    }

    /** Blocks the thread for longer than the target of the calls, as slow work would. */
    void pauseIfPlanted() {
        long end = System.nanoTime() + PAUSE_NANOS;
        while (isPlanted() && System.nanoTime() < end) {
            LockSupport.parkNanos(end - System.nanoTime());
        }
    }
}
