package tern.rpc.diagnosis.machine;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import jdk.jfr.consumer.RecordedClass;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedObject;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;
import org.jspecify.annotations.Nullable;
import tern.rpc.pool.ApplicationCode;

/** Adds up the events of a flight recording, and returns the largest sums. Not thread-safe: only one thread uses it. */
final class RecordingSummary {

    private static final int SHOWN = 3;

    /** The kinds of entries in the summary whose values are durations. */
    private static final Set<String> TIMED = Set.of("monitor", "socket", "file", "pinned", "parked");

    private static final Map<String, String> PRIMITIVES = Map.of(
            "B", "byte", "C", "char", "D", "double", "F", "float", "I", "int", "J", "long", "S", "short", "Z",
            "boolean");

    private static final int MAX_KEYS = 4_096;
    private static final String DIAGNOSIS = RecordingSummary.class.getPackageName() + ".";

    // The outer key is the kind of an entry. The inner key is its name.
    private final Map<String, Map<String, Double>> sums = new HashMap<>();

    private RecordingSummary() {}

    /** Reads a recording file. Returns the largest entries of each kind, such as waits for locks, as lines of text. */
    static List<String> of(Path file) throws IOException {
        RecordingSummary summary = new RecordingSummary();
        try (RecordingFile events = new RecordingFile(file)) {
            while (events.hasMoreEvents()) {
                summary.add(events.readEvent());
            }
        }
        return summary.lines();
    }

    private void add(RecordedEvent event) {
        RecordedStackTrace stack = event.getStackTrace();
        String frame = frame(stack);
        if (frame == null || isOfDiagnosis(stack)) {
            return;
        }
        double millis = event.getDuration().toNanos() / 1e6;
        switch (event.getEventType().getName()) {
            case "jdk.ExecutionSample" -> add("hot", frame, 1);
            case "jdk.ObjectAllocationSample" -> {
                double bytes = event.hasField("weight") ? event.getLong("weight") : 1;
                add("allocates", className(event, "objectClass") + " in " + frame, bytes);
            }
            case "jdk.JavaMonitorEnter" ->
                add("monitor", className(event, "monitorClass") + ", wanted in " + frame + owner(event), millis);
            case "jdk.ThreadPark" -> {
                RecordedClass parked = event.getValue("parkedClass");
                if (parked != null && isOfApplication(event.getStackTrace())) {
                    add("parked", simple(parked.getName()) + " in " + frame, millis);
                }
            }
            case "jdk.SocketRead", "jdk.SocketWrite" ->
                add("socket", event.getString("host") + ":" + event.getInt("port") + " in " + frame, millis);
            case "jdk.FileRead", "jdk.FileWrite", "jdk.FileForce" ->
                add("file", event.getString("path") + " in " + frame, millis);
            case "jdk.VirtualThreadPinned" -> add("pinned", frame, millis);
            case "jdk.SystemGC" -> add("collects", "System.gc() called in " + frame, 1);
            default -> {}
        }
    }

    /**
     * Returns the class of a sampled object and the line of the application that has allocated it; null if no code of
     * the application is on the stack, or if the diagnosis has allocated the object.
     */
    static @Nullable String object(RecordedEvent event) {
        RecordedStackTrace stack = event.getStackTrace();
        String frame = stack == null || !isOfApplication(stack) || isOfDiagnosis(stack) ? null : frame(stack);
        return frame == null ? null : typeOf(event) + " of " + frame;
    }

    private static String typeOf(RecordedEvent event) {
        if (event.hasField("objectClass")) {
            return className(event, "objectClass");
        }
        RecordedObject object = event.getValue("object");
        RecordedClass type = object == null ? null : object.getValue("type");
        return type == null ? "objects" : simple(type.getName());
    }

    private void add(String word, String what, double amount) {
        Map<String, Double> of = sums.computeIfAbsent(word, name -> new HashMap<>());
        if (of.size() < MAX_KEYS || of.containsKey(what)) {
            of.merge(what, amount, Double::sum);
        }
    }

    /** Returns the application's innermost frame; if there is none, the innermost frame of the stack. */
    private static @Nullable String frame(@Nullable RecordedStackTrace stack) {
        if (stack == null || stack.getFrames().isEmpty()) {
            return null;
        }
        StackTraceElement application = ApplicationCode.first(stack.getFrames().stream()
                .filter(RecordedFrame::isJavaFrame)
                .map(RecordingSummary::element)
                .toArray(StackTraceElement[]::new));
        return ApplicationCode.shown(
                application == null ? element(stack.getFrames().get(0)) : application);
    }

    /**
     * Returns whether application code is on the stack. A parked thread without application code on its stack counts as
     * idle.
     */
    private static boolean isOfApplication(RecordedStackTrace stack) {
        return stack.getFrames().stream()
                .anyMatch(frame -> frame.isJavaFrame()
                        && ApplicationCode.owns(frame.getMethod().getType().getName()));
    }

    /** Returns whether the diagnosis itself caused the event. The summary leaves such events out. */
    private static boolean isOfDiagnosis(RecordedStackTrace stack) {
        return stack.getFrames().stream()
                .anyMatch(frame -> frame.isJavaFrame()
                        && frame.getMethod().getType().getName().startsWith(DIAGNOSIS));
    }

    static StackTraceElement element(RecordedFrame frame) {
        return new StackTraceElement(
                frame.getMethod().getType().getName(), frame.getMethod().getName(), null, frame.getLineNumber());
    }

    private static String owner(RecordedEvent event) {
        RecordedThread owner = event.getValue("previousOwner");
        return owner == null || owner.getJavaName() == null ? "" : ", held by " + owner.getJavaName();
    }

    private static String className(RecordedEvent event, String field) {
        RecordedClass type = event.getValue(field);
        return type == null ? "objects" : simple(type.getName());
    }

    /** Returns the name of a class without its package. The JVM calls an array of bytes {@code [B}, for example. */
    static String simple(String type) {
        if (!type.startsWith("[")) {
            return type.substring(type.lastIndexOf('.') + 1);
        }
        String element = type.substring(1);
        return (element.startsWith("L")
                        ? simple(element.substring(1).replace(";", ""))
                        : PRIMITIVES.getOrDefault(element, simple(element)))
                + "[]";
    }

    private List<String> lines() {
        List<String> lines = new ArrayList<>();
        for (String word : List.of("hot", "allocates", "collects", "monitor", "socket", "file", "pinned", "parked")) {
            Map<String, Double> of = sums.getOrDefault(word, Map.of());
            double all = of.values().stream().mapToDouble(Double::doubleValue).sum();
            of.entrySet().stream()
                    .sorted(Map.Entry.<String, Double>comparingByValue()
                            .reversed()
                            .thenComparing(Map.Entry.comparingByKey()))
                    .limit(SHOWN)
                    .forEach(entry -> lines.add(String.format(
                            Locale.ROOT,
                            "%-9s %s, %.0f %%%s",
                            word,
                            entry.getKey(),
                            100 * entry.getValue() / all,
                            ofTime(word, all))));
        }
        return lines;
    }

    /**
     * Returns text that states the total time of the entries of the given kind, because a large share of a short total
     * time is unimportant.
     */
    private static String ofTime(String word, double all) {
        return TIMED.contains(word) ? String.format(Locale.ROOT, " of %,.0f ms", all) : "";
    }
}
