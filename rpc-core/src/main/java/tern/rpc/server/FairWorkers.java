package tern.rpc.server;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.NanoClock;
import tern.rpc.concurrent.WorkerPool;
import tern.rpc.limit.Refusal;
import tern.rpc.limit.Share;

/**
 * The threads that run methods, shared so that a tenant whose methods take long does not keep others from being served.
 *
 * <p>While not all threads are busy, everybody gets one. When all are busy, a tenant gets one of a few spare threads if it
 * has no more calls running and waiting than spare threads are free. So a tenant that holds many threads gets no spare one,
 * however many tenants use the spare ones together some stay free, and a newcomer gets one before tenants that hold
 * several. This rule is the dynamic threshold of switches with a shared memory (A. Choudhury, E. Hahne: Dynamic Queue
 * Length Thresholds for Shared-Memory Packet Switches, 1998).
 *
 * <p>If calls have waited in vain for a thread besides, so that waiting does not help, tenants that hold more than twice as
 * many threads as are free are refused until they hold less. So threads that such a tenant gives back go to the others.
 * This ends a second after the last call that waited in vain or needed a spare thread.
 *
 * <p>Thread-safe; a race costs one call the wrong answer. As long as not all threads are busy a call costs two reads.
 */
final class FairWorkers {

    /** Part of the threads that exists beside them as spare ones. */
    private static final int SPARE_PART = 4;

    /** Connections of the only address together get one of so many spare threads; another address may come. */
    private static final int FOR_ALL_PARTS = 2;

    /** Fewest spare threads, but never more than threads. */
    private static final int FEWEST_SPARE = 4;

    /**
     * A tenant that holds no more calls may wait for a spare thread, and for the others instead of being refused. One call
     * at a time may count as several, since a thread leaves a call a little after its answer.
     */
    private static final int FEW = 4;

    /** A tenant under pressure may hold so many times the threads that are free. */
    private static final int PRESSED_PART = 2;

    private static final long PRESSURE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final WorkerPool workers;
    private final @Nullable WorkerPool spare;
    private final NanoClock clock;
    private volatile boolean pressed; // others were in need of threads, and waiting did not help
    private volatile long neededUntil;
    private volatile long vainUntil;

    /** @param spare with {@link #spareThreads} threads, as long a queue, and used by nobody else */
    FairWorkers(WorkerPool workers, @Nullable WorkerPool spare, NanoClock clock) {
        this.workers = workers;
        this.spare = spare;
        this.clock = clock;
        this.neededUntil = clock.nanoTime();
        this.vainUntil = neededUntil;
    }

    /** Spare threads beside so many; none beside one, which runs calls one after another. */
    static int spareThreads(int threads) {
        return threads == 1 ? 0 : Math.min(threads, Math.max(FEWEST_SPARE, threads / SPARE_PART));
    }

    /**
     * Hands over a call.
     *
     * @param share of its tenant, which counts the call already; null when tenants do not matter
     * @return null, or why not
     */
    @Nullable
    Refusal offer(ServedCall call, @Nullable Share share) {
        if (share != null && (pressed || !workers.hasRoom())) {
            return offerUnderPressure(call, share);
        }
        return workers.offer(call) ? null : Refusal.QUEUE;
    }

    private @Nullable Refusal offerUnderPressure(ServedCall call, Share share) {
        int held = share.working();
        if (!workers.hasRoom() && offerToSpare(call, share, held)) {
            return null;
        }
        if (pressed && held > FEW && held > PRESSED_PART * free() && isPressed()) {
            return Refusal.SHARE;
        }
        if (workers.offer(call)) {
            return null;
        }
        waitedInVain();
        return Refusal.QUEUE;
    }

    private boolean offerToSpare(ServedCall call, Share share, int held) {
        WorkerPool threads = spare;
        if (threads == null || !maySpare(threads, share, held)) {
            return false;
        }
        neededUntil = clock.nanoTime() + PRESSURE_NANOS;
        look();
        call.waitsForSpareThread(true);
        if (threads.offer(call)) {
            return true;
        }
        call.waitsForSpareThread(false);
        return false;
    }

    /**
     * Whether a tenant may use one more spare thread.
     *
     * @param held by the tenant of these and the usual threads, the wanted one included
     */
    static boolean maySpare(WorkerPool spare, Share share, int held) {
        int used = spare.admitted();
        int most = share.isPart() ? spare.maxThreads() / FOR_ALL_PARTS : spare.maxThreads();
        return held <= Math.max(FEW, most - used) && (!share.isPart() || used < most);
    }

    private int free() {
        WorkerPool more = spare;
        int free = workers.maxThreads() - workers.admitted();
        return Math.max(0, more == null ? free : free + more.maxThreads() - more.admitted());
    }

    /** A call found no thread in time. */
    void waitedInVain() {
        vainUntil = clock.nanoTime() + PRESSURE_NANOS;
        look();
    }

    private void look() {
        if (!pressed && isPressed()) {
            pressed = true;
        }
    }

    private boolean isPressed() {
        long now = clock.nanoTime();
        boolean is = now - neededUntil < 0 && now - vainUntil < 0;
        if (!is) {
            pressed = false;
        }
        return is;
    }

    /** Calls that run. */
    int active() {
        return spare == null ? workers.active() : workers.active() + spare.active();
    }

    /** Without the spare ones. */
    int threads() {
        return workers.maxThreads();
    }

    /**
     * Whether calls wait because all threads are busy. If not, what held them up was a pause of the whole process, and a
     * thread is about to take them.
     *
     * @param forSpare whether they wait for a spare one
     */
    boolean isSaturated(boolean forSpare) {
        WorkerPool asked = (forSpare && spare != null) ? spare : workers;
        return asked.isSaturated();
    }
}
