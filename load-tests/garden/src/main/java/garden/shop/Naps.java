package garden.shop;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Pauses that an interrupt does not end. */
public final class Naps {

    private Naps() {}

    /** Also called from SQL through an alias. */
    public static int millis(int time) {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(time);
        for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
        return time;
    }
}
