package tern.rpc.diagnosis.sample;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Account;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.pool.ApplicationCode;

/**
 * Finds the calls that most likely hold the lock, permit or pooled object that other calls wait for. Also finds the
 * activity of the likely holders. The JVM does not report the holders. A likely holder runs code below the same line or
 * method as the waiting calls, and does not wait for the same lock, permit or object.
 */
public final class LikelyHolders {

    /** The holders' activity is determined only if there are at least {@value} samples of holders. */
    private static final int MIN_SAMPLES = 3;

    /**
     * If no sample has shown a holder for {@value} ns while calls were found waiting, the earlier holders are assumed
     * to have released the lock, permit or object.
     */
    private static final long MAX_AGE_NANOS = 5_000_000_000L;

    /**
     * The activity of the calls that likely hold the lock, permit or object.
     *
     * @param phase the phase in their ledgers, or the kind of the asynchronous operation that they wait for
     * @param part the activity in their stacks, if the phase is {@link Phase#OWN}; otherwise the kind of operation,
     *     without the operation's name
     */
    public record Activity(Phase phase, Part part) {

        boolean isIn(Sample sample) {
            return equals(of(sample));
        }

        /**
         * Returns the activity that the sample shows; null if it shows a wait for a pool or a worker. A client that
         * pauses during an operation, before it retries a request, does not wait for its peer.
         */
        static @Nullable Activity of(Sample sample) {
            Phase phase = sample.work();
            boolean isPause = sample.isApart() && sample.part().kind() == Part.Kind.SLEEP;
            if (phase == Phase.OWN || isPause) {
                return new Activity(Phase.OWN, sample.part());
            }
            return phase.isOperation() ? new Activity(phase, Account.part(phase, "")) : null;
        }
    }

    private LikelyHolders() {}

    /**
     * Returns the activity that at least half of the samples of likely holders show; null if there is none.
     *
     * @param wait the wait of the other calls
     * @param all the samples of all late or failed calls
     */
    static @Nullable Activity of(Part wait, List<Sample> all) {
        List<Sample> holders = holders(wait, all);
        Map<Activity, Integer> activities = new HashMap<>();
        for (Sample sample : holders) {
            Activity activity = Activity.of(sample);
            if (activity != null) {
                activities.merge(activity, 1, Integer::sum);
            }
        }
        return mostFrequent(activities, holders.size());
    }

    /**
     * Returns the samples of calls that may hold the permit or object that other calls wait for. A call does not hold
     * the permit or object before it waits for it, so samples from before the call's first wait are left out.
     */
    static List<Sample> mayHold(Part wait, Collection<List<Sample>> calls) {
        List<Sample> samples = new ArrayList<>();
        for (List<Sample> call : calls) {
            int first = 0;
            while (first < call.size() && !call.get(first).part().equals(wait)) {
                first++;
            }
            samples.addAll(first == call.size() ? call : call.subList(first, call.size()));
        }
        return samples;
    }

    private static @Nullable Activity mostFrequent(Map<Activity, Integer> activities, int looks) {
        return activities.entrySet().stream()
                .filter(entry -> entry.getValue() >= MIN_SAMPLES && 2 * entry.getValue() >= looks)
                .max(Map.Entry.<Activity, Integer>comparingByValue()
                        .thenComparing(entry -> entry.getKey().part().name()))
                .map(Map.Entry::getKey)
                .orElse(null);
    }

    /**
     * Considers the calls that have waited for the permit and now continue without a thread. Such a call returns the
     * permit when its operation ends. Returns the operation that most of these calls wait for; null if there is none.
     *
     * @param calls the calls that have continued without a thread
     */
    static @Nullable Activity withoutThread(Part wait, List<SampledCall> calls) {
        Map<Activity, Integer> activities = new HashMap<>();
        int looks = 0;
        for (SampledCall call : calls) {
            long waited = call.list.stream()
                    .filter(sample -> sample.part().equals(wait))
                    .mapToLong(Sample::atNanos)
                    .max()
                    .orElse(Long.MAX_VALUE);
            for (SampledCall.Operation look : call.withoutThread) {
                if (look.atNanos() > waited) {
                    looks++;
                    Phase phase = look.operation().kind();
                    activities.merge(new Activity(phase, Account.part(phase, "")), 1, Integer::sum);
                }
            }
        }
        return mostFrequent(activities, looks);
    }

    /**
     * Returns the samples of likely holders. Looks for holders in three places, and stops at the first place where it
     * finds enough samples. First, below the line where calls wait, because a proxy or a library may run the code that
     * holds the permit. Second, in or below the method in which calls wait. Third, in or below the caller of the class
     * where calls wait, because this class may only take the lock. In the second and third place, a call that runs an
     * earlier line of the method is no likely holder, because it has not reached the code that takes the lock. In the
     * third place, neither is a call that waits for another lock. Returns an empty list if the holders were last found
     * long before the last waiting call.
     */
    public static List<Sample> holders(Part wait, List<Sample> all) {
        Set<StackTraceElement> lines = new HashSet<>();
        // the methods in which calls wait, and their callers, each with the first line that waits
        Map<String, Integer> methods = new HashMap<>();
        Map<String, Integer> callers = new HashMap<>();
        List<Sample> others = new ArrayList<>();
        for (Sample sample : all) {
            StackTraceElement line = sample.line();
            if (!sample.part().equals(wait)) {
                others.add(sample);
            } else if (line != null) {
                lines.add(line);
                methods.merge(ApplicationCode.method(line), line.getLineNumber(), Math::min);
                sample.path().stream()
                        .filter(frame -> !frame.getClassName().equals(line.getClassName()))
                        .findFirst()
                        .ifPresent(frame ->
                                callers.merge(ApplicationCode.method(frame), frame.getLineNumber(), Math::min));
            }
        }
        List<Predicate<Sample>> rules = List.of(
                sample -> sample.path().stream().anyMatch(lines::contains),
                sample -> isIn(methods, sample),
                sample -> isIn(callers, sample) && sample.part().kind() != Part.Kind.LOCK);
        long newestWait =
                newest(all.stream().filter(sample -> sample.part().equals(wait)).toList());
        for (Predicate<Sample> rule : rules) {
            // If the owner of the awaited lock is known, the sample's path shows the owner's stack, and not the stack
            // of the waiting thread.
            List<Sample> found = others.stream()
                    .filter(sample -> sample.owner() == null && rule.test(sample))
                    .toList();
            if (found.size() >= MIN_SAMPLES) {
                return newest(found) >= newestWait - MAX_AGE_NANOS ? found : List.of();
            }
        }
        return List.of();
    }

    private static long newest(List<Sample> samples) {
        return samples.stream().mapToLong(Sample::atNanos).max().orElse(Long.MIN_VALUE);
    }

    /**
     * Returns whether the sample shows one of the methods at or after its line in the map.
     *
     * @param methods the first line of each method that counts
     */
    private static boolean isIn(Map<String, Integer> methods, Sample sample) {
        return sample.path().stream()
                .anyMatch(frame -> frame.getLineNumber()
                        >= methods.getOrDefault(ApplicationCode.method(frame), Integer.MAX_VALUE));
    }
}
