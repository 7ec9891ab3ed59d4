package shop;

import tern.rpc.pool.Holders;

/** Application code. The tests expect its frames in stack traces. */
public final class Orders {

    private Orders() {}

    public static void export(Holders pool, long now) {
        pool.taken(now);
    }

    public static IllegalStateException closed() {
        return new IllegalStateException("order 17 is closed");
    }
}
