package tern.rpc.diagnosis.rule;

import java.util.function.Predicate;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.calls.Baseline;

/**
 * Distinguishes pauses of the process that occur while calls work from pauses that occur while calls wait. A pause of
 * the process makes a wait in a queue longer only by the duration of the pause, but a pause during the work also keeps
 * a worker or a connection occupied. A long wait in a queue contains many pauses. Without this class, such a wait would
 * be attributed to the pauses.
 */
final class PausedWork {

    private PausedWork() {}

    /**
     * Returns the given work without the pauses that probably occurred while calls waited. The pauses are assumed to be
     * spread evenly over the time of the calls.
     *
     * @param account the mean time of the calls by activity and wait
     * @param isWait recognizes the waits that the work is supposed to explain
     */
    static Times of(Times work, Times account, Predicate<Part> isWait) {
        double running = account.sum(part -> !Baseline.isPause(part));
        double waiting = account.sum(part -> !Baseline.isPause(part) && isWait.test(part));
        Times without = new Times();
        without.addAll(work, 1);
        if (running > 0 && waiting < running) {
            without.scale(Baseline::isPause, 1 - waiting / running);
        }
        return without;
    }
}
