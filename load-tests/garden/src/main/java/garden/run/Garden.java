package garden.run;

import garden.world.World;

/** Everything that a fault can change: the shop application, the load, and the services that the application calls. */
public record Garden(World world, Shop shop, Load load) {

    /** Sets the strength of a fault in the shop application; 0 undoes the fault. */
    public void set(String name, double level) throws Exception {
        shop.control("/set?" + name + "=" + level);
    }

    /** Returns whether the diagnosis of the shop application reports that calls miss their latency target. */
    boolean misses() throws Exception {
        return Answer.of(shop.diagnosis("application/json")).misses();
    }

    /**
     * Waits until the diagnosis names a first cause.
     *
     * @param badBefore the number of late or failed calls before the fault
     * @return the number of seconds from the first late or failed call until the first cause; -1 if there was no cause
     */
    double awaitCause(long badBefore, int limitSeconds) throws Exception {
        long start = System.nanoTime();
        long firstBad = 0;
        while (secondsSince(start) < limitSeconds) {
            Thread.sleep(500);
            if (firstBad == 0 && load.bad() > badBefore) {
                firstBad = System.nanoTime();
            }
            if (misses()) {
                return firstBad == 0 ? 0 : secondsSince(firstBad);
            }
        }
        return -1;
    }

    static double secondsSince(long start) {
        return (System.nanoTime() - start) / 1e9;
    }

    void heal() throws Exception {
        load.usual();
        world.heal();
        shop.quiet(0);
        shop.control("/clear");
    }
}
