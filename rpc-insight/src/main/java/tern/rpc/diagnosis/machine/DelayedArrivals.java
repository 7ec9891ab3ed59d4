package tern.rpc.diagnosis.machine;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.machine.HiccupMeter.Stop;

/**
 * Estimates how many calls arrived while the whole process was paused, and how long they waited. The process measures
 * the time of a call from the moment when it reads the request. The measured time therefore does not include the
 * request's wait in the socket during a pause. The time that the caller measures includes this wait.
 */
public final class DelayedArrivals {

    /**
     * A call belongs to a pause if it begins at most this long before the measured end of the pause. Another thread
     * measures the end, and wakes up slightly late.
     */
    private static final long SLACK_NANOS = 10_000_000;

    private DelayedArrivals() {}

    /**
     * Returns the number of calls that waited for longer than the target during the given pauses, assuming that calls
     * arrive evenly.
     *
     * @param callsPerSecond the rate of calls
     */
    public static long count(List<Stop> pauses, double callsPerSecond, long targetNanos) {
        double count = 0;
        for (Stop pause : pauses) {
            count += Math.max(0, length(pause) - targetNanos) / 1e9 * callsPerSecond;
        }
        return Math.round(count);
    }

    /**
     * Returns the calls that began immediately after the given pauses, in the order of their start. The estimated wait
     * during the pause is added to the time of each call.
     *
     * @param good recorded calls that met the target as measured by the process
     */
    public static List<EndedCall> of(List<EndedCall> good, List<Stop> pauses, double callsPerSecond, long targetNanos) {
        List<EndedCall> delayed = new ArrayList<>();
        List<EndedCall> inOrder = new ArrayList<>(good);
        inOrder.sort(Comparator.comparingLong(EndedCall::startedNanos));
        for (Stop pause : pauses) {
            long length = length(pause);
            long count = count(List.of(pause), callsPerSecond, targetNanos);
            long latest = pause.toNanos() + length;
            for (EndedCall call : inOrder) {
                boolean isNext = call.startedNanos() >= pause.toNanos() - SLACK_NANOS && call.startedNanos() <= latest;
                if (isNext && count > 0) {
                    long waited = targetNanos + (long) (count * 1e9 / callsPerSecond);
                    // Only some calls are recorded. Each of the recorded calls therefore represents a call that waited
                    // during the pause and began at its end.
                    delayed.add(new EndedCall(
                            call.method(),
                            call.ledger(),
                            Math.min(call.endedNanos(), pause.toNanos() + call.tookNanos()),
                            call.tookNanos() + Math.min(length, waited),
                            call.failure()));
                    count--;
                }
            }
        }
        return delayed;
    }

    private static long length(Stop pause) {
        return pause.toNanos() - pause.fromNanos();
    }
}
