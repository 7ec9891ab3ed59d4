package garden.run;

import garden.world.World;

/** Everything that a fault may change: the shop's switches, the load, and the services on which the shop depends. */
public record Garden(World world, Shop shop, Load load) {

    /** Sets the strength of a fault in the shop. */
    public void set(String name, double level) throws Exception {
        shop.control("/set?" + name + "=" + level);
    }

    void heal() throws Exception {
        load.usual();
        world.heal();
        shop.quiet(0);
        shop.control("/clear");
    }
}
