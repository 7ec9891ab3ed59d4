package shop;

/** A class whose static initializer waits until a test opens the gate. */
final class SeasonRules {

    private static final double FACTOR;

    static {
        Gate.pass();
        FACTOR = 1;
    }

    private SeasonRules() {}

    static double factor() {
        return FACTOR;
    }
}
