package com.example.office;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** The faults that a test can inject into the application. */
public enum Fault {
    /** Each call holds the monitor of {@link Seals} during slow work. */
    LOCK,
    /** One of the three database statements is slow. */
    STATEMENT,
    /** The provider of the {@link Store} service is slow. */
    PROVIDER,
    /** Tasks in the executor {@code mail} are slow. */
    TASKS,
    /**
     * A code path does not close its connection. The leaked connections remain in use after the fault has been removed.
     */
    LEAK;

    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(150);

    private static volatile @Nullable Fault injected;

    /** Removes the previous fault and injects the given fault. If {@code fault} is null, injects no fault. */
    public static void inject(@Nullable Fault fault) {
        injected = fault;
    }

    boolean isInjected() {
        return injected == this;
    }

    /**
     * Simulates slow work: if this fault is injected, blocks the thread for longer than the target latency of the
     * calls.
     */
    void pauseIfInjected() {
        long end = System.nanoTime() + PAUSE_NANOS;
        while (isInjected() && System.nanoTime() < end) {
            LockSupport.parkNanos(end - System.nanoTime());
        }
    }
}
