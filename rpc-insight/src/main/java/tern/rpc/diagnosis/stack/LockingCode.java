package tern.rpc.diagnosis.stack;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.stack.LockingCalls.Use;

/**
 * Decides from class files whether stack frames may hold the lock that another frame waits for. The JVM does not report
 * the holders of some locks. Code of the same class is no evidence, because most methods of a class do not take its
 * lock. Thread-safe.
 */
public final class LockingCode {

    private static final int MAX_CLASSES = 64;

    /** The types of fields that contain different locks if the fields differ. A view of a lock does not count. */
    private static final Set<String> LOCKS = Set.of(
            "Ljava/util/concurrent/locks/ReentrantLock;",
            "Ljava/util/concurrent/locks/StampedLock;",
            "Ljava/util/concurrent/Semaphore;");

    // for each class, the uses of locks in each of its methods; empty if the class file cannot be read
    private static final Map<String, Map<String, List<Use>>> KNOWN = new ConcurrentHashMap<>();

    private LockingCode() {}

    /**
     * Returns whether one of the given frames has taken a lock and not released it yet, as the line order shows.
     * The lock must not be in another field than the lock that the waiting frame wants. Without a class file, returns
     * whether one of the frames has passed the line that waits.
     *
     * @param frames frames of one class
     * @param waiting the frame that waits for the lock
     */
    public static boolean mayHold(List<StackTraceElement> frames, StackTraceElement waiting) {
        List<Use> wanted = usesIn(waiting).stream()
                .filter(use -> use.takes() && use.line() == waiting.getLineNumber())
                .toList();
        return frames.stream().anyMatch(frame -> isBehind(frame, waiting) || holds(frame, wanted));
    }

    /** Returns whether the frame runs the waiting method and has passed the line that waits. */
    private static boolean isBehind(StackTraceElement frame, StackTraceElement waiting) {
        return frame.getClassName().equals(waiting.getClassName())
                && frame.getMethodName().equals(waiting.getMethodName())
                && frame.getLineNumber() >= waiting.getLineNumber()
                && usesIn(frame).stream()
                        .noneMatch(use -> isReleaseBetween(use, waiting.getLineNumber(), frame.getLineNumber()));
    }

    private static boolean isReleaseBetween(Use use, int taken, int now) {
        return !use.takes() && use.line() >= taken && use.line() < now;
    }

    /**
     * Returns whether the frame holds a lock or a permit.
     *
     * @param wanted the locks that the waiting line takes
     */
    private static boolean holds(StackTraceElement frame, List<Use> wanted) {
        List<Use> uses = usesIn(frame).stream()
                .filter(use ->
                        wanted.isEmpty() || wanted.stream().anyMatch(one -> one.isOfMonitor() == use.isOfMonitor()))
                .toList();
        int now = frame.getLineNumber();
        if (willRelease(uses, now)) {
            return true;
        }
        List<Use> held = uses.stream()
                .filter(use -> use.takes() && use.line() <= now)
                .filter(use -> uses.stream().noneMatch(other -> isReleaseBetween(other, use.line(), now)))
                .toList();
        Set<String> fields = fields(held);
        Set<String> wantedFields = fields(wanted);
        boolean areOthers = held.stream().allMatch(use -> LOCKS.contains(use.type()))
                && !wantedFields.isEmpty()
                && fields.stream().noneMatch(wantedFields::contains);
        return !held.isEmpty() && !areOthers;
    }

    /**
     * Returns whether the code releases a permit that it does not take itself. Another thread may take a permit and let
     * a task release it.
     */
    private static boolean willRelease(List<Use> uses, int now) {
        return uses.stream().anyMatch(Use::isOfPermit)
                && uses.stream().noneMatch(Use::takes)
                && uses.stream().anyMatch(use -> use.line() >= now);
    }

    /** Returns the fields that contain the given locks, as far as they are known. */
    private static Set<String> fields(List<Use> uses) {
        return uses.stream()
                .filter(use -> LOCKS.contains(use.type()))
                .map(Use::field)
                .collect(Collectors.toSet());
    }

    private static List<Use> usesIn(StackTraceElement frame) {
        if (KNOWN.size() >= MAX_CLASSES && !KNOWN.containsKey(frame.getClassName())) {
            KNOWN.clear();
        }
        return KNOWN.computeIfAbsent(frame.getClassName(), LockingCode::read)
                .getOrDefault(frame.getMethodName(), List.of());
    }

    private static Map<String, List<Use>> read(String type) {
        String file = type.replace('.', '/') + ".class";
        for (ClassLoader loader :
                new ClassLoader[] {Thread.currentThread().getContextClassLoader(), LockingCode.class.getClassLoader()
                }) {
            try (InputStream in = open(loader, file)) {
                if (in != null) {
                    return LockingCalls.read(in.readAllBytes());
                }
            } catch (IOException | RuntimeException e) {
                return Map.of(); // a class file that this class cannot read is no evidence
            }
        }
        return Map.of();
    }

    private static @Nullable InputStream open(@Nullable ClassLoader loader, String file) {
        return loader == null ? null : loader.getResourceAsStream(file);
    }
}
