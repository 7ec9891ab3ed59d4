package tern.rpc.serialization.hessian;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tern.rpc.NanoClock;
import tern.rpc.Pace;

/**
 * Finds the classes that messages name. For each requested name, a class loader searches the whole class path, and
 * remembers the name permanently even if no class has this name. A peer could therefore fill the memory with invented
 * names. To prevent this, a class is loaded only if its file exists, and the number of searches is limited.
 * Thread-safe.
 */
final class NamedClasses {

    /**
     * The maximum number of remembered names without a class. After the maximum is reached, the number of searches per
     * second is limited.
     */
    static final int MAX_UNKNOWN = 1024;

    /** The maximum number of searches per second after {@link #MAX_UNKNOWN} has been reached. */
    static final int SEARCHES_PER_SECOND = 16;

    private final @Nullable ClassLoader loader;

    /**
     * False if the class loader cannot provide class files as resources. In a native image, for example, there are no
     * class files.
     */
    private final boolean hasFiles;

    /** The loaded classes, keyed by class names from messages. The class path limits their number. */
    private final Map<String, Class<?>> found = new ConcurrentHashMap<>();

    private final Set<String> unknown = ConcurrentHashMap.newKeySet();
    private final Pace searches;

    /**
     * @param loader the class loader to search; null for the boot class loader
     * @param known a class that the class loader can find
     */
    NamedClasses(@Nullable ClassLoader loader, Class<?> known, NanoClock clock) {
        this.loader = loader;
        this.hasFiles = loader != null && hasFile(loader, known.getName());
        this.searches = new Pace(SEARCHES_PER_SECOND, Duration.ofSeconds(1), clock);
    }

    /**
     * Returns the class without initializing it. Returns null if the class does not exist, or if too many unknown names
     * were sent.
     */
    @Nullable
    Class<?> find(String name) {
        Class<?> known = found.get(name);
        if (known != null || name.startsWith("[") || unknown.contains(name) || (isFull() && !searches.take())) {
            return known;
        }
        Class<?> loaded = load(name);
        if (loaded != null) {
            found.put(name, loaded);
        } else if (!isFull()) {
            unknown.add(name);
        }
        return loaded;
    }

    /**
     * Returns whether the limit for unknown names is reached. {@link #find} may then return null even for an existing
     * class.
     */
    boolean isFull() {
        return unknown.size() >= MAX_UNKNOWN;
    }

    private @Nullable Class<?> load(String name) {
        try {
            if (hasFiles && loader != null && !hasFile(loader, name)) {
                return null;
            }
            return Class.forName(name, false, loader);
        } catch (ClassNotFoundException | LinkageError | IllegalArgumentException unknownName) {
            return null; // A class loader with jars throws an IllegalArgumentException if the name is invalid.
        }
    }

    /**
     * Returns whether the class file exists. Does not call {@link ClassLoader#loadClass}, which would remember the
     * name.
     */
    private static boolean hasFile(ClassLoader loader, String name) {
        return loader.getResource(name.replace('.', '/') + ".class") != null;
    }
}
