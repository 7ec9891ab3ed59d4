package tern.rpc.diagnosis.sample;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.stack.StackReader;
import tern.rpc.pool.ApplicationCode;

/**
 * Gives related samples a common name. If running code is spread over many small methods, its samples are named after
 * the common caller of these methods. All samples that wait for the same lock get a name that includes the lock's usual
 * holder.
 *
 * @param caller the common caller of the code that uses processor time; null if each method is reported under its own
 *     name
 * @param holders maps a lock to the name under which waits for it are reported; contains the locks that are mostly held
 *     by the same code, and the locks that were never released
 */
record CommonNames(@Nullable String caller, Map<String, String> holders) {

    /**
     * Each method is reported under its own name if at least {@value} of the samples of running code show the same
     * method.
     */
    private static final double HOT = 0.4;

    /**
     * A method counts as the common caller only if it is on the stack in at least {@value} of the samples of running
     * code.
     */
    private static final double COMMON = 0.7;

    /**
     * Code counts as a lock's usual holder if at least {@value} of the samples of waits for the lock show that the code
     * holds it.
     */
    private static final double USUAL_HOLDER = 0.4;

    /**
     * A lock is reported as never released only if at least {@value} samples show that its owner has left the code
     * without releasing it.
     */
    private static final int MIN_LOOKS = 3;

    private static final String HELD = " held in ";

    /**
     * Returns a copy of the sample whose name contains its lock's usual holder or the common caller of running code. If
     * neither is known, returns the sample itself.
     */
    Sample of(Sample sample) {
        String lock = lock(sample);
        if (lock != null) {
            String name = sample.part().name();
            String holder = holders.getOrDefault(lock, name.replace(StackReader.NEVER_RELEASED, ""));
            return holder.equals(name) ? sample : sample.named(holder);
        }
        if (caller != null && sample.isComputing()) {
            for (int i = 0; i < sample.path().size(); i++) {
                if (ApplicationCode.method(sample.path().get(i)).equals(caller)) {
                    return sample.at(i, caller);
                }
            }
        }
        return sample;
    }

    /** Returns the lock that the sampled thread waits for; null if the thread does not wait for a lock. */
    private static @Nullable String lock(Sample sample) {
        if (sample.part().kind() != Part.Kind.LOCK) {
            return null;
        }
        String name = sample.part().name();
        int end = Math.max(name.indexOf(HELD), name.indexOf(StackReader.WANTED));
        return end < 0 ? null : name.substring(0, end).replace(StackReader.NEVER_RELEASED, "");
    }

    /**
     * Returns, for each lock, a common name for all waits for this lock. The name contains the lock's usual holder, or
     * says that the lock was never released. Locks without a usual holder are omitted.
     */
    static Map<String, String> holders(List<List<Sample>> calls) {
        Map<String, Map<String, Integer>> found = new HashMap<>();
        Map<String, Set<String>> owners = new HashMap<>();
        for (List<Sample> list : calls) {
            for (Sample sample : list) {
                String lock = lock(sample);
                if (lock != null) {
                    owners.computeIfAbsent(lock, name -> new HashSet<>())
                            .add(sample.owner() == null ? "" : sample.owner());
                    found.computeIfAbsent(lock, name -> new HashMap<>())
                            .merge(sample.part().name(), 1, Integer::sum);
                }
            }
        }
        Map<String, String> holders = new HashMap<>();
        found.forEach((lock, names) -> {
            int all = names.values().stream().mapToInt(Integer::intValue).sum();
            // The stack of the owner is read after the stack of the waiting thread. If several threads take the lock in
            // turn, an owner may therefore seem to have left the application's code. Only a lock with a single owner
            // can count as never released.
            boolean same = owners.getOrDefault(lock, Set.of()).size() == 1;
            names.entrySet().stream()
                    .filter(entry -> same && entry.getKey().contains(StackReader.NEVER_RELEASED))
                    .filter(entry -> entry.getValue() >= MIN_LOOKS && entry.getValue() >= USUAL_HOLDER * all)
                    .max(Map.Entry.<String, Integer>comparingByValue().thenComparing(Map.Entry::getKey))
                    .ifPresent(entry -> holders.put(lock, entry.getKey()));
            if (holders.containsKey(lock)) {
                return;
            }
            names.entrySet().stream()
                    .filter(entry -> entry.getKey().contains(HELD) && entry.getValue() >= USUAL_HOLDER * all)
                    .max(Map.Entry.<String, Integer>comparingByValue().thenComparing(Map.Entry::getKey))
                    .ifPresent(entry -> holders.put(lock, entry.getKey()));
        });
        return holders;
    }

    /**
     * Returns the innermost method that is on the stack in most samples of running code ({@link #COMMON}). Returns null
     * if a single method is the innermost frame in many of these samples ({@link #HOT}).
     */
    static @Nullable String caller(Iterable<List<Sample>> calls) {
        Map<String, Integer> innermost = new HashMap<>();
        Map<String, Integer> anywhere = new HashMap<>();
        Map<String, Integer> depths = new HashMap<>();
        int all = 0;
        for (List<Sample> list : calls) {
            for (Sample sample : list) {
                if (!sample.isOwn() || !sample.isComputing() || sample.path().isEmpty()) {
                    continue;
                }
                all++;
                List<String> path = sample.path().stream()
                        .map(ApplicationCode::method)
                        .distinct()
                        .toList();
                innermost.merge(path.get(0), 1, Integer::sum);
                for (int i = 0; i < path.size(); i++) {
                    anywhere.merge(path.get(i), 1, Integer::sum);
                    depths.merge(path.get(i), i, Integer::sum);
                }
            }
        }
        int looks = all;
        if (innermost.values().stream().anyMatch(count -> count >= HOT * looks)) {
            return null;
        }
        String best = null;
        double smallest = Double.MAX_VALUE;
        for (Map.Entry<String, Integer> entry : anywhere.entrySet()) {
            double depth = (double) depths.getOrDefault(entry.getKey(), 0) / entry.getValue();
            if (entry.getValue() >= COMMON * looks && depth < smallest) {
                smallest = depth;
                best = entry.getKey();
            }
        }
        return best;
    }
}
