package tern.rpc.diagnosis.sample;

import java.util.List;
import java.util.concurrent.locks.AbstractOwnableSynchronizer;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.StampedLock;

/**
 * Finds the threads that may hold a lock while hundreds of other threads wait for it. A random sample of so many
 * threads rarely contains the holder. The JVM does not report which virtual thread holds a lock. However, it quickly
 * reports the state of each thread and the object that the thread waits for.
 */
final class LockQueues {

    /** The maximum number of possible holders whose stacks are read at once. */
    private static final int MAX_HOLDERS = 8;

    private LockQueues() {}

    /** Returns some of the given threads that do not wait for a lock, a monitor or a permit, in the given order. */
    static List<CallThread> outside(List<CallThread> threads) {
        return threads.stream()
                .filter(thread -> !thread.runsPart() && mayHold(thread.work().thread(), thread.id()))
                .limit(MAX_HOLDERS)
                .toList();
    }

    private static boolean mayHold(Thread thread, long id) {
        if (thread.getId() != id || thread.getState() == Thread.State.BLOCKED) {
            return false;
        }
        Object blocker = LockSupport.getBlocker(thread);
        return !(blocker instanceof AbstractOwnableSynchronizer) && !(blocker instanceof StampedLock);
    }
}
