package tern.rpc.diagnosis.rule;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ThreadPoolExecutor;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.sample.TaskSamples;
import tern.rpc.diagnosis.stack.ThreadSnapshot;

/**
 * Finds executors that are not beans in the fields of the application's classes, such as a {@code static final
 * ExecutorService}. Searches only classes that are on the stacks of tasks or of waiting calls.
 */
final class FieldExecutors {

    private static final int MAX_CLASSES = 32;

    private FieldExecutors() {}

    /**
     * An executor in a field.
     *
     * @param field the class and the field, for example {@code Prices.LOADERS}
     * @param state the executor's threads and queue; null if they are unknown
     */
    record Found(String field, @Nullable String state) {}

    private record Candidate(Field field, @Nullable Executor value) {

        /** Returns the number of the executor's threads; -1 if it is unknown. */
        int threads() {
            if (value instanceof ThreadPoolExecutor pool) {
                return pool.getPoolSize();
            }
            return value instanceof ForkJoinPool forked ? forked.getPoolSize() : -1;
        }

        Found found() {
            Class<?> type = field.getDeclaringClass();
            return new Found(ThreadSnapshot.simple(type.getName()) + "." + field.getName(), state());
        }

        private @Nullable String state() {
            if (value instanceof ThreadPoolExecutor pool) {
                return state(
                        pool.getActiveCount(),
                        pool.getPoolSize(),
                        pool.getQueue().size());
            }
            return value instanceof ForkJoinPool forked
                    ? state(
                            forked.getActiveThreadCount(),
                            forked.getPoolSize(),
                            forked.getQueuedTaskCount() + forked.getQueuedSubmissionCount())
                    : null;
        }

        private static String state(int active, int threads, long queued) {
            return active + " of " + threads + " threads busy, " + queued + " tasks wait";
        }
    }

    /**
     * Returns the executor that runs the given tasks; null if it is unknown. Never returns an executor that has fewer
     * threads than the samples show. If several executors remain, returns the only one that has exactly as many threads
     * as the samples show. An executor can also have more threads, because only some threads of a large executor are
     * sampled.
     *
     * @param tasks the samples of the executor's threads
     * @param waiting the stack frame in which calls wait for the tasks; null if it is unknown
     */
    static @Nullable Found of(TaskSamples tasks, @Nullable StackTraceElement waiting) {
        Set<String> classes = new LinkedHashSet<>();
        if (waiting != null) {
            classes.add(waiting.getClassName());
        }
        tasks.classes.forEach((type, looks) -> {
            if (looks > 0) {
                classes.add(type);
            }
        });
        List<Candidate> all = new ArrayList<>();
        classes.stream().limit(MAX_CLASSES).forEach(type -> addFields(type, all));
        all.removeIf(candidate -> candidate.threads() >= 0 && candidate.threads() < tasks.threads());
        List<Candidate> matching = all.stream()
                .filter(candidate -> candidate.threads() == tasks.threads())
                .toList();
        List<Candidate> best = matching.isEmpty() ? all : matching;
        return best.size() == 1 ? best.get(0).found() : null;
    }

    private static void addFields(String type, List<Candidate> into) {
        try {
            // Class.forName need not initialize the class: its code is on a stack, so it is already initialized.
            Class<?> known = Class.forName(type, false, Thread.currentThread().getContextClassLoader());
            for (Field field : known.getDeclaredFields()) {
                if (Executor.class.isAssignableFrom(field.getType())) {
                    into.add(new Candidate(field, valueOf(field)));
                }
            }
        } catch (ClassNotFoundException | LinkageError e) {
            // The context class loader cannot load the class, so the executors in its fields are not found.
            return;
        }
    }

    /**
     * Returns the executor in a static field; null for an instance field, because the object that contains the field is
     * unknown.
     */
    private static @Nullable Executor valueOf(Field field) {
        if (!Modifier.isStatic(field.getModifiers())) {
            return null;
        }
        try {
            field.setAccessible(true);
            return (Executor) field.get(null);
        } catch (IllegalAccessException | RuntimeException e) {
            return null;
        }
    }
}
