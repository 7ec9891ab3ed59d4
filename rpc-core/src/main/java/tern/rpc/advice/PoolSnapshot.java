package tern.rpc.advice;

import java.time.Duration;
import java.util.List;

/**
 * A pool at one moment. Counts of which a library keeps no record are -1.
 *
 * @param name as the application calls it: that of the bean, or of the group of properties
 * @param kind what it hands out
 * @param max at most so many are handed out at once
 * @param active handed out now
 * @param idle free now
 * @param waiting threads, or tasks of an executor, that wait for one now
 * @param queueCapacity how many may wait; {@link Integer#MAX_VALUE} when nothing bounds them
 * @param waitLimit how long one may wait; negative when nothing bounds it
 * @param taken handed out since the beginning
 * @param refused waits that ended with nothing since the beginning: time-outs, rejected tasks
 * @param callerRuns tasks that their callers had to run themselves since the beginning; 0 but for executors
 * @param waited sum of all waits since the beginning; negative when unknown
 * @param held sum of the times for which one was handed out since the beginning; negative when unknown
 * @param settings effective values, each with the property that sets it and where its value comes from
 */
public record PoolSnapshot(
        String name,
        PoolKind kind,
        int max,
        int active,
        int idle,
        int waiting,
        int queueCapacity,
        Duration waitLimit,
        long taken,
        long refused,
        long callerRuns,
        Duration waited,
        Duration held,
        List<PoolSetting> settings) {

    public PoolSnapshot {
        settings = List.copyOf(settings);
    }
}
