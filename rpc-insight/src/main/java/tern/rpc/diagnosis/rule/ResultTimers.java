package tern.rpc.diagnosis.rule;

import java.lang.annotation.Annotation;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.stack.ThreadSnapshot;

/**
 * Finds timers whose tasks may complete awaited results, such as a scheduler that sends a batch after a fixed delay.
 * Searches the classes whose code waits.
 */
public final class ResultTimers {

    private static final int MAX_CLASSES = 8;

    private static final String SCHEDULED = "org.springframework.scheduling.annotation.Scheduled";

    private static final Set<String> TYPES = Set.of(
            "java.util.concurrent.ScheduledExecutorService",
            "java.util.concurrent.ScheduledThreadPoolExecutor",
            "java.util.concurrent.DelayQueue",
            "java.util.Timer",
            "io.netty.util.Timer",
            "io.netty.util.HashedWheelTimer",
            "reactor.core.scheduler.Scheduler",
            "org.springframework.scheduling.TaskScheduler",
            "org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler");

    private ResultTimers() {}

    /**
     * A timer of a waiting class.
     *
     * @param name the field that contains the timer, or the method that a timer calls, such as {@code Batches.clock}
     * @param isMethod whether the name is the name of a method with the annotation {@code @Scheduled}
     */
    public record Timer(String name, boolean isMethod) {

        /** Returns the change that makes the timer's task complete results earlier. */
        public String change() {
            return isMethod
                    ? "run " + name + " (@Scheduled) more often, or complete this result at once instead of there"
                    : "use a shorter delay or period for the task that completes this result, probably a task of the"
                            + " scheduler in the field " + name + ", or do its work at once";
        }
    }

    /** Returns the timer of the innermost waiting class that has one; null if there is none. */
    public static @Nullable Timer of(ExcessTime excess, Part wait) {
        Set<String> classes = new LinkedHashSet<>();
        for (Sample sample : excess.samples.in(wait)) {
            sample.path().stream().map(StackTraceElement::getClassName).forEach(classes::add);
        }
        return classes.stream()
                .flatMap(name -> Stream.of(name, outermost(name)))
                .distinct()
                .limit(MAX_CLASSES)
                .map(ResultTimers::in)
                .flatMap(Stream::ofNullable)
                .findFirst()
                .orElse(null);
    }

    /** Returns the timer of the given class; null if it has none. */
    public static @Nullable Timer of(Class<?> type) {
        return in(type.getName());
    }

    private static String outermost(String name) {
        int nested = name.indexOf('$');
        return nested < 0 ? name : name.substring(0, nested);
    }

    private static @Nullable Timer in(String type) {
        try {
            // Class.forName need not initialize the class: its code is on a stack, so it is already initialized.
            Class<?> known = Class.forName(type, false, Thread.currentThread().getContextClassLoader());
            String simple = ThreadSnapshot.simple(type) + ".";
            for (Field field : known.getDeclaredFields()) {
                if (TYPES.contains(field.getType().getName())) {
                    return new Timer(simple + field.getName(), false);
                }
            }
            for (Method method : known.getDeclaredMethods()) {
                if (Stream.of(method.getAnnotations()).anyMatch(ResultTimers::isScheduled)) {
                    return new Timer(simple + method.getName(), true);
                }
            }
            return null;
        } catch (ClassNotFoundException | LinkageError e) {
            // The context class loader cannot load the class or the type of a member.
            return null;
        }
    }

    private static boolean isScheduled(Annotation annotation) {
        return annotation.annotationType().getName().equals(SCHEDULED);
    }
}
