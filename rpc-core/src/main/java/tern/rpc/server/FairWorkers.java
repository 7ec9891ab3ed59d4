package tern.rpc.server;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.NanoClock;
import tern.rpc.concurrent.WorkerPool;
import tern.rpc.limit.Refusal;
import tern.rpc.limit.Share;

/**
 * Shares the threads that run methods among tenants, so that a tenant with slow methods does not block the other
 * tenants.
 *
 * <p>While some threads are idle, the calls of every tenant get one. When all threads are busy, a call gets one of a
 * few spare threads only if its tenant has at most as many running and waiting calls as there are free spare threads.
 * A tenant that holds many threads therefore gets no spare thread. Some spare threads always stay free, and a new
 * tenant gets one before tenants that hold several threads. This rule is the dynamic threshold of shared-memory
 * switches (A. Choudhury, E. Hahne: Dynamic Queue Length Thresholds for Shared-Memory Packet Switches, 1998).
 *
 * <p>If, in addition, calls have waited for a thread until their deadline, waiting does not help. A tenant that
 * holds more than twice as many threads as are free then gets refusals until it holds fewer, and other tenants get
 * the threads that it returns. This state ends when, for one second, no call has waited until its deadline or no
 * call has needed a spare thread.
 *
 * <p>Thread-safe. A race may cause a single call to be accepted or refused wrongly. While threads are idle, a call
 * costs two reads.
 */
final class FairWorkers {

    /** There is one spare thread for this number of regular threads. */
    private static final int SPARE_PART = 4;

    /**
     * All connections from one address together get at most half of the spare threads, so that another address finds a
     * free one.
     */
    private static final int FOR_ALL_PARTS = 2;

    /** The minimum number of spare threads, unless there are fewer regular threads. */
    private static final int MIN_SPARE = 4;

    /**
     * A tenant with at most this number of calls is not refused: its calls may wait for a spare thread, and then for a
     * regular one. Even a tenant that makes one call at a time may have several calls counted, because a thread leaves
     * a call shortly after its answer.
     */
    private static final int FEW = 4;

    /**
     * After calls have waited for a thread until their deadline, a tenant may hold at most this multiple of the
     * number of free threads.
     */
    private static final int PRESSED_PART = 2;

    private static final long PRESSURE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final WorkerPool workers;
    private final @Nullable WorkerPool spare;
    private final NanoClock clock;
    // True while calls wait for threads until their deadlines, so that tenants with many threads must return some.
    private volatile boolean pressed;
    private volatile long neededUntil;
    private volatile long vainUntil;

    /**
     * @param spare a pool with {@link #spareThreads} threads and a queue of the same length, used only by this object
     */
    FairWorkers(WorkerPool workers, @Nullable WorkerPool spare, NanoClock clock) {
        this.workers = workers;
        this.spare = spare;
        this.clock = clock;
        this.neededUntil = clock.nanoTime();
        this.vainUntil = neededUntil;
    }

    /**
     * Returns the number of spare threads for a number of regular threads. A single regular thread gets no spare
     * threads, because it must run calls one after another.
     */
    static int spareThreads(int threads) {
        return threads == 1 ? 0 : Math.min(threads, Math.max(MIN_SPARE, threads / SPARE_PART));
    }

    /**
     * Passes a call to a worker.
     *
     * @param share the share of the call's tenant, which already includes the call, or null if tenants do not matter
     * @return the reason for the refusal, or null if a worker will run the call
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
     * Returns whether a tenant may use one more spare thread.
     *
     * @param held the number of regular and spare threads that the tenant holds, including the requested one
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

    /** Records that a call's deadline passed while the call waited in the queue. */
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

    /** Returns the number of running calls on regular and spare threads. */
    int active() {
        return spare == null ? workers.active() : workers.active() + spare.active();
    }

    /** Returns the number of regular threads. */
    int threads() {
        return workers.maxThreads();
    }

    /**
     * Returns whether calls wait because all threads are busy. If calls have waited although a thread is idle, the
     * process was paused, and a thread will run the calls soon.
     *
     * @param forSpare true for the spare threads, false for the regular ones
     */
    boolean isSaturated(boolean forSpare) {
        WorkerPool asked = (forSpare && spare != null) ? spare : workers;
        return asked.isSaturated();
    }
}
