package shop;

import java.util.concurrent.CountDownLatch;
import tern.rpc.pool.Holders;

/** Application code that runs outside of calls and keeps a connection while it waits for data. */
public final class Housekeeping {

    private Housekeeping() {}

    public static void pop(Holders pool, long now, String command, CountDownLatch taken, CountDownLatch end) {
        Holders.Holder holder = pool.taken(now);
        holder.begins(command);
        taken.countDown();
        try {
            end.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            pool.returned(holder);
        }
    }
}
