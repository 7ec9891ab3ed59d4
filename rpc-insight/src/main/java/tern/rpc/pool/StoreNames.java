package tern.rpc.pool;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The stores of an application: either its data sources or its Redis servers. If there are several stores, the name of
 * an operation ends with the name of its store, for example {@code update stock (data source orders)}. Thread-safe.
 */
public final class StoreNames {

    private static final String DATA_SOURCE = "data source";
    private static final String REDIS = "Redis";
    private static final Pattern IN_NAME = Pattern.compile(" \\((?:" + DATA_SOURCE + "|" + REDIS + ") ([^()]+)\\)$");

    /**
     * The minimum interval between two updates of the time of the last answer. Frequent writes by many threads to the
     * same memory are slow.
     */
    private static final long STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private static final int MAX_STORES = 64;
    private static final int MAX_CACHED = 1_024;

    private final String kind;
    private final ConcurrentMap<String, Store> stores = new ConcurrentHashMap<>();
    private volatile boolean several;

    private StoreNames(String kind) {
        this.kind = kind;
    }

    public static StoreNames ofDataSources() {
        return new StoreNames(DATA_SOURCE);
    }

    public static StoreNames ofRedis() {
        return new StoreNames(REDIS);
    }

    /** One data source or Redis server. Thread-safe. */
    public final class Store {
        private final String name;
        private final ConcurrentMap<String, String> named = new ConcurrentHashMap<>();
        private volatile @Nullable String server;
        private volatile long answeredNanos;
        private volatile boolean hasAnswered;

        private Store(String name) {
            this.name = name;
        }

        public String name() {
            return name;
        }

        /**
         * Returns the name of an operation of this store. If there are several stores, the name of the operation
         * contains the name of the store.
         */
        public @Nullable String operation(@Nullable String operation) {
            if (!several || operation == null) {
                return operation;
            }
            String known = named.get(operation);
            if (known == null) {
                known = operation + " (" + kind + " " + name + ")";
                if (named.size() < MAX_CACHED) {
                    named.put(operation, known);
                }
            }
            return known;
        }

        /**
         * Sets the server that runs the operations. Two stores may share a server or a database.
         *
         * @param address any text that is the same for the same server or database; null if it is unknown
         */
        public Store server(@Nullable String address) {
            server = address;
            return this;
        }

        /** Records that an operation has ended without a failure. */
        public void answered() {
            if (!several) {
                return; // If there is only one store, the ends of calls show when the store last answered.
            }
            long now = System.nanoTime();
            if (!hasAnswered || now - answeredNanos >= STEP_NANOS) {
                answeredNanos = now;
                hasAnswered = true;
            }
        }
    }

    /** Adds a store, or returns the known store with the given name. */
    public Store add(String name) {
        if (stores.size() >= MAX_STORES && !stores.containsKey(name)) {
            return new Store(name);
        }
        Store store = stores.computeIfAbsent(name, Store::new);
        several = stores.size() > 1;
        return store;
    }

    /**
     * Returns the time when each store last answered, on the clock of {@link System#nanoTime()}. Stores that have not
     * answered yet are omitted. If there is only one store, the result is empty, because the names of its operations do
     * not contain it.
     */
    public Map<String, Long> answers() {
        Map<String, Long> answers = new HashMap<>();
        if (several) {
            stores.forEach((name, store) -> {
                if (store.hasAnswered) {
                    answers.put(name, store.answeredNanos);
                }
            });
        }
        return answers;
    }

    /** Returns the server of each store. Stores with an unknown server are omitted. */
    public Map<String, String> servers() {
        Map<String, String> servers = new HashMap<>();
        stores.forEach((name, store) -> {
            String server = store.server;
            if (server != null) {
                servers.put(name, server);
            }
        });
        return servers;
    }

    /** Returns the name of the store in an operation's name; empty if the operation's name contains none. */
    public static String in(String operation) {
        Matcher matcher = IN_NAME.matcher(operation);
        return matcher.find() ? matcher.group(1) : "";
    }

    /** Returns an operation's name without the name of the store. */
    public static String without(String operation) {
        return IN_NAME.matcher(operation).replaceFirst("");
    }
}
