package garden.shop;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Sleeps without reacting to interrupts. */
public final class Naps {

    private Naps() {}

    /** Sleeps. SQL statements call this method under the name {@code tax}. */
    public static int millis(int time) {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(time);
        for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
        return time;
    }
}
