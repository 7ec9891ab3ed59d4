package tern.rpc.registry.dubbo;

/** Measures the memory of all objects that are in use. */
public final class UsedHeap {

    private static final int ATTEMPTS = 5;

    private UsedHeap() {}

    /**
     * Measures after several garbage collections, and returns the smallest result, because other threads might create
     * objects in the meantime.
     */
    public static long bytes() {
        Runtime runtime = Runtime.getRuntime();
        long least = Long.MAX_VALUE;
        for (int i = 0; i < ATTEMPTS; i++) {
            System.gc();
            least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
        }
        return least;
    }
}
