package tern.rpc.diagnosis.sample;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Predicate;
import tern.rpc.diagnosis.stack.NewHttpClients;

/** Finds the platform threads that serve no call, and chooses those to sample. */
final class OtherThreads {

    static final int MAX_THREADS = 96;

    /** Prefixes of the names of Tern's own threads. If they serve no call, they are idle and need not be sampled. */
    private static final List<String> OWN = List.of("rpc-worker-", "rpc-io-", "rpc-diagnosis");

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final Random random = new Random(2);

    /**
     * Returns the common name of each thread that serves no call, by its id.
     *
     * @param serving the ids of the threads that serve calls
     * @param clients receives the name of each thread
     */
    Map<Long, String> find(Set<Long> serving, NewHttpClients clients) {
        Map<Long, String> others = new LinkedHashMap<>();
        for (ThreadInfo thread : THREADS.getThreadInfo(THREADS.getAllThreadIds())) {
            if (thread != null) {
                clients.add(thread.getThreadName());
            }
            if (thread != null
                    && !serving.contains(thread.getThreadId())
                    && OWN.stream().noneMatch(thread.getThreadName()::startsWith)) {
                others.put(thread.getThreadId(), TaskWatch.nameOf(thread.getThreadName()));
            }
        }
        return others;
    }

    /**
     * Chooses the threads to sample. If there are too many, half of the chosen threads have names of threads that were
     * found working before. The rest are chosen at random.
     *
     * @param others the common name of each thread, by its id
     * @param hasWorked returns whether threads with the given name were found working before
     */
    List<Long> choose(Map<Long, String> others, Predicate<String> hasWorked) {
        List<Long> all = new ArrayList<>(others.keySet());
        if (all.size() <= MAX_THREADS) {
            return all;
        }
        Collections.shuffle(all, random);
        Set<Long> chosen = new LinkedHashSet<>();
        all.stream()
                .filter(id -> hasWorked.test(others.getOrDefault(id, "")))
                .limit(MAX_THREADS / 2)
                .forEach(chosen::add);
        all.stream()
                .filter(id -> !chosen.contains(id))
                .limit(MAX_THREADS - chosen.size())
                .toList()
                .forEach(chosen::add);
        return List.copyOf(chosen);
    }
}
