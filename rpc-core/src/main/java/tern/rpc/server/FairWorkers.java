package tern.rpc.server;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import tern.rpc.NanoClock;
import tern.rpc.concurrent.WorkerPool;
import tern.rpc.limit.Limiter;
import tern.rpc.limit.Refusal;
import tern.rpc.limit.Share;

/**
 * Divides the threads that run methods among tenants, so that a tenant with slow methods does not block other tenants.
 *
 * <p>While threads are idle, every call gets a thread. When all regular threads are busy, a call gets one of a few
 * spare threads only if its tenant's running and waiting calls do not outnumber the free spare threads. A tenant that
 * holds many threads therefore gets no spare threads. Some spare threads always stay free, and a new tenant takes
 * precedence over tenants that hold several threads. This rule is known as the dynamic threshold of shared-memory
 * switches (A. Choudhury, E. Hahne: Dynamic Queue Length Thresholds for Shared-Memory Packet Switches, 1998).
 *
 * <p>A tenant is crowded out if two conditions hold. First, the largest other tenant holds more than an equal share of
 * the threads. Second, the tenant itself holds less than an equal share, or less than half as many threads as the
 * largest other tenant. If a call from a crowded-out tenant finds no spare thread, the call waits until another call
 * from the same tenant frees a spare thread, or until a regular thread is idle. The call does not wait in the queue of
 * the regular threads, because that queue is full of the larger tenant's calls.
 *
 * <p>If calls still wait too long for a thread or find the queue full, the server refuses calls. The calls from a
 * tenant are then refused while the tenant holds more than twice the number of free threads. Other tenants get the
 * threads that this tenant returns. A tenant that is crowded out is never refused for this reason. The refusals end
 * after one second in which no call waits too long or finds the queue full, or after one second in which no call needs
 * a spare thread.
 *
 * <p>Thread-safe. A race can cause a single call to be wrongly accepted or refused. While threads are idle, the check
 * costs two reads per call.
 */
final class FairWorkers {

    /** The number of regular threads for each spare thread. */
    private static final int SPARE_PART = 4;

    /**
     * All connections from one address together may hold at most half of the spare threads, so that callers from other
     * addresses find a free spare thread.
     */
    private static final int FOR_ALL_PARTS = 2;

    /** The minimum number of spare threads, unless there are fewer regular threads. */
    private static final int MIN_SPARE = 4;

    /**
     * A tenant with at most {@value} calls is not refused. Its calls may wait for a spare thread, and then for a
     * regular thread. The number is above 1 because a thread is still counted for a short time after it has sent the
     * answer. Therefore, several calls may be counted for a tenant that makes only one call at a time.
     */
    private static final int FEW = 4;

    /**
     * The maximum number of threads that the calls of one tenant may occupy, as a multiple of the free threads. This
     * limit applies only while {@link #pressed} is true.
     */
    private static final int PRESSED_PART = 2;

    private static final long PRESSURE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final WorkerPool workers;
    private final @Nullable WorkerPool spare;
    private final @Nullable MethodReserve methodReserve;
    private final Limiter limiter;
    // The waiting calls from tenants that hold less than an equal share of the threads. Each of these calls waits until
    // another call from its tenant frees a spare thread.
    private final Queue<Waiting> waiting = new ConcurrentLinkedQueue<>();
    private final AtomicInteger waitingCalls = new AtomicInteger();
    private final NanoClock clock;
    // True while calls wait too long for a thread or find the queue full. During this time, tenants whose calls occupy
    // many threads get no additional threads.
    private volatile boolean pressed;
    private volatile long neededUntil;
    private volatile long vainUntil;
    // the tenant of the last call that waited too long for a thread or found the queue full
    private volatile @Nullable Share vain;

    /** A call waiting until another call from its tenant frees a spare thread. */
    private record Waiting(ServedCall call, Share share, long sinceNanos) {}

    /**
     * @param spare a pool with {@link #spareThreads} threads and as many queue positions, used only by this object
     * @param methodReserve the reserve of threads for methods that occupy few threads; runs calls to such methods that
     *     get no spare thread; null for none
     * @param limiter the limiter that counts the calls from the tenants
     */
    FairWorkers(
            WorkerPool workers,
            @Nullable WorkerPool spare,
            @Nullable MethodReserve methodReserve,
            Limiter limiter,
            NanoClock clock) {
        this.workers = workers;
        this.spare = spare;
        this.methodReserve = methodReserve;
        this.limiter = limiter;
        this.clock = clock;
        this.neededUntil = clock.nanoTime();
        this.vainUntil = neededUntil;
    }

    /**
     * Returns the number of spare threads for a number of regular threads. If there is only one regular thread, there
     * are no spare threads, because such a server must run calls one after another.
     */
    static int spareThreads(int threads) {
        return threads == 1 ? 0 : Math.min(threads, Math.max(MIN_SPARE, threads / SPARE_PART));
    }

    /**
     * Passes a call to a worker.
     *
     * @param share counts the admitted calls of the call's tenant, including this call; null if the transport does not
     *     distinguish tenants
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
        if (!workers.hasRoom() && runsElsewhere(call, share, held)) {
            return null;
        }
        if (pressed
                && !share.isAllThatIsLeftOf(vain)
                && held > FEW
                && held > PRESSED_PART * free()
                && !limiter.isCrowdedOut(share, held, threads())
                && isPressed()) {
            return Refusal.SHARE;
        }
        if (workers.offer(call)) {
            return null;
        }
        waitedInVain(share);
        return Refusal.QUEUE;
    }

    /**
     * Passes the call to a spare thread or to the method reserve, or lets it wait until another call from its tenant
     * ends. The method reserve is tried before the queue of the spare threads. If slow calls occupy all spare threads,
     * a call to a different method need not wait for them.
     */
    private boolean runsElsewhere(ServedCall call, Share share, int held) {
        boolean isAnySpareIdle = spare != null && spare.hasRoom();
        return (isAnySpareIdle && offerToSpare(call, share, held))
                || offerToReserve(call, share)
                || (!isAnySpareIdle && offerToSpare(call, share, held))
                || waitsForOwnCall(call, share, held);
    }

    private boolean offerToReserve(ServedCall call, Share share) {
        if (methodReserve == null || !call.offerTo(methodReserve, share)) {
            return false;
        }
        neededUntil = clock.nanoTime() + PRESSURE_NANOS;
        look();
        return true;
    }

    private boolean offerToSpare(ServedCall call, Share share, int held) {
        WorkerPool threads = spare;
        if (threads == null || !maySpare(threads, share, held)) {
            return false;
        }
        neededUntil = clock.nanoTime() + PRESSURE_NANOS;
        look();
        call.waitsForSpareThread(true);
        if (threads.offer(() -> runOnSpare(call, share))) {
            return true;
        }
        call.waitsForSpareThread(false);
        return false;
    }

    private void runOnSpare(ServedCall call, Share share) {
        try {
            call.run();
        } finally {
            for (Waiting next = nextOf(share); next != null; next = nextOf(share)) {
                next.call.run(); // Does nothing if the call has already failed after waiting too long.
            }
        }
    }

    private @Nullable Waiting nextOf(Share share) {
        for (Waiting each : waiting) {
            if (each.share == share && forget(each)) {
                return each;
            }
        }
        return null;
    }

    private boolean forget(Waiting call) {
        boolean removed = waiting.remove(call);
        if (removed) {
            waitingCalls.decrementAndGet();
        }
        return removed;
    }

    /**
     * Returns whether the call has waited too long for a spare thread. If so, removes it from the waiting calls. This
     * can happen if all other calls of its tenant run on regular threads, because these calls do not free a spare
     * thread.
     */
    boolean waitedInVain(ServedCall call) {
        for (Waiting each : waiting) {
            if (each.call == call) {
                return clock.nanoTime() - each.sinceNanos > PRESSURE_NANOS && forget(each);
            }
        }
        return false;
    }

    /**
     * If a regular thread is idle, gives this thread a call that is waiting for a spare thread. This is necessary
     * because regular threads do not look for these waiting calls themselves.
     *
     * @return whether a thread will run the call
     */
    boolean offerToIdle(ServedCall call) {
        if (waitingCalls.get() == 0 || !workers.hasRoom()) {
            return false;
        }
        for (Waiting each : waiting) {
            if (each.call == call) {
                if (!forget(each)) {
                    return false;
                }
                boolean runs = workers.offer(call);
                if (!runs) {
                    call.waitedInVain();
                }
                return runs;
            }
        }
        return false;
    }

    /**
     * If a regular thread is idle, gives this thread a call that is waiting in the method reserve. The first thread
     * that takes the call runs it.
     *
     * @return whether a thread will run the call
     */
    boolean offerReservedToIdle(ServedCall call) {
        return workers.hasRoom() && workers.offer(call);
    }

    private boolean waitsForOwnCall(ServedCall call, Share share, int held) {
        WorkerPool threads = spare;
        if (threads == null || !limiter.isCrowdedOut(share, held, threads())) {
            return false;
        }
        long now = clock.nanoTime();
        for (Waiting oldest = waiting.peek();
                oldest != null && now - oldest.sinceNanos > PRESSURE_NANOS;
                oldest = waiting.peek()) {
            if (forget(oldest)) {
                oldest.call.waitedInVain();
            }
        }
        Waiting added = new Waiting(call, share, now);
        if (waitingCalls.incrementAndGet() > threads.maxThreads()) {
            waitingCalls.decrementAndGet();
            return false;
        }
        neededUntil = now + PRESSURE_NANOS;
        look();
        try {
            waiting.add(added);
        } catch (Throwable e) { // the call could not be queued, because memory is exhausted
            waitingCalls.decrementAndGet();
            throw e;
        }
        // The tenant's last call on a spare thread may have ended before this call was added.
        return !maySpare(threads, share, share.working())
                || !forget(added)
                || offerToSpare(call, share, share.working());
    }

    /**
     * Returns whether a tenant may use one more spare thread.
     *
     * @param held the number of regular and spare threads that the tenant would hold, including the requested thread
     */
    static boolean maySpare(WorkerPool spare, Share share, int held) {
        int used = spare.admitted();
        int max = share.isPart() ? spare.maxThreads() / FOR_ALL_PARTS : spare.maxThreads();
        return held <= Math.max(FEW, max - used) && (!share.isPart() || used < max);
    }

    private int free() {
        WorkerPool more = spare;
        int free = workers.maxThreads() - workers.admitted();
        return Math.max(0, more == null ? free : free + more.maxThreads() - more.admitted());
    }

    /**
     * Records that a call waited too long for a thread or found the queue full.
     *
     * @param share counts the admitted calls of the call's tenant; null if the transport does not distinguish tenants
     */
    void waitedInVain(@Nullable Share share) {
        vain = share;
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

    /** Returns whether the number of running and queued calls is below the number of regular threads. */
    boolean hasRoom() {
        return workers.hasRoom();
    }

    /** Returns the number of running calls on all threads: regular threads, spare threads, and the method reserve. */
    int active() {
        int active = workers.active();
        if (spare != null) {
            active += spare.active();
        }
        return methodReserve == null ? active : active + methodReserve.active();
    }

    /** Returns the number of regular threads. */
    int threads() {
        return workers.maxThreads();
    }

    /**
     * Returns whether calls are waiting because all threads are busy. If calls are waiting although a thread is idle,
     * the process was paused, and a thread will soon run the calls.
     *
     * @param forSpare true for the spare threads, false for the regular threads
     */
    boolean isSaturated(boolean forSpare) {
        WorkerPool pool = (forSpare && spare != null) ? spare : workers;
        return pool.isSaturated();
    }

    /** Works like {@link #isSaturated} for the method reserve. */
    boolean isReserveSaturated() {
        return methodReserve != null && methodReserve.isSaturated();
    }
}
