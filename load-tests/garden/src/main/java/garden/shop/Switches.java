package garden.shop;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The faults that are switched on. Thread-safe. */
public final class Switches {

    private static final Set<String> ON = ConcurrentHashMap.newKeySet();

    private Switches() {}

    public static void set(String fault, boolean on) {
        if (on) {
            ON.add(fault);
        } else {
            ON.remove(fault);
        }
    }

    static boolean on(String fault) {
        return ON.contains(fault);
    }
}
