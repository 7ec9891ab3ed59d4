package shop;

/** Application code that makes the JVM collect garbage. */
public final class Sweeper {

    private Sweeper() {}

    public static void sweep() {
        System.gc();
    }
}
