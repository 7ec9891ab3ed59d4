package garden.shop;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.DoubleConsumer;

/** The faults that are currently injected, each with its strength. Thread-safe. */
public final class Switches {

    private static final Map<String, Double> LEVELS = new ConcurrentHashMap<>();
    private static final Map<String, List<DoubleConsumer>> LISTENERS = new ConcurrentHashMap<>();

    private Switches() {}

    /** Returns the strength of a fault, or 0 if the fault is not injected. */
    public static double level(String name) {
        return LEVELS.getOrDefault(name, 0.0);
    }

    public static boolean on(String name) {
        return LEVELS.containsKey(name);
    }

    /**
     * Registers an action for a fault that does not depend on calls. The action runs on the control thread when the
     * strength of the fault changes.
     */
    public static void listen(String name, DoubleConsumer action) {
        LISTENERS.computeIfAbsent(name, any -> new CopyOnWriteArrayList<>()).add(action);
    }

    static void set(String name, double level) {
        if (level == 0) {
            if (LEVELS.remove(name) == null) {
                return;
            }
        } else {
            LEVELS.put(name, level);
        }
        LISTENERS.getOrDefault(name, List.of()).forEach(action -> action.accept(level));
    }

    static void clear() {
        List.copyOf(LEVELS.keySet()).forEach(name -> set(name, 0));
    }
}
