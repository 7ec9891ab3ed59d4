package garden.run;

import garden.world.World;

/** What a fault may change: the shop's switches, the load, and all that the shop depends on. */
public record Garden(World world, Shop shop, Load load) {

    /** Sets a switch of the shop. */
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
