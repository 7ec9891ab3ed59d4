package tern.rpc.diagnosis.text;

import java.util.List;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.stack.StackReader;

/**
 * Recognizes locks that their owner has most likely not released, although the JVM does not report the owner. The JVM
 * reports no owner if virtual threads wait for a lock.
 */
final class LeftLocks {

    /**
     * A lock counts as never released only if at least {@value} calls wait for it. A smaller number of waiting calls
     * may be due to chance.
     */
    private static final int MIN_CALLS = 3;

    /** A lock counts as never released only if there are at least {@value} samples of the wait for it. */
    private static final int MIN_LOOKS = 6;

    /** The names of locks that stay locked if code leaves the locked section without releasing them. */
    private static final List<String> LOCKS = List.of("ReentrantLock ", "ReentrantReadWriteLock.", "StampedLock ");

    private final ExcessTime excess;

    LeftLocks(ExcessTime excess) {
        this.excess = excess;
    }

    /**
     * Returns whether none of the calls that waited for the lock got it: each of them still waits, or has failed and
     * was found waiting in its last sample. If threads only held the lock for a long time, some of the waiting calls
     * would get it.
     *
     * @param wait the wait for a lock without a known owner or likely holder
     */
    boolean isOne(Part wait) {
        if (LOCKS.stream().noneMatch(wait.name()::startsWith) || !wait.name().contains(StackReader.WANTED)) {
            return false;
        }
        int calls = 0;
        int looks = 0;
        for (ExcessTime.Counted counted : excess.accounts) {
            List<Sample> samples = excess.samples.list(counted.call().ledger());
            long waiting = samples.stream()
                    .filter(sample -> sample.part().equals(wait))
                    .count();
            if (waiting == 0) {
                continue;
            }
            calls++;
            looks += (int) waiting;
            boolean waitsLast = samples.get(samples.size() - 1).part().equals(wait);
            if (!waitsLast
                    || (counted.call().failure() == null && !counted.call().isRunning())) {
                return false;
            }
        }
        return calls >= MIN_CALLS && looks >= MIN_LOOKS;
    }
}
