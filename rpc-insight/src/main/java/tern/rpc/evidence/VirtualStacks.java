package tern.rpc.evidence;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Reader;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.management.ManagementFactory;
import java.lang.management.PlatformManagedObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the stacks of all virtual threads. The JVM lists virtual threads only in a dump of all threads, which it writes
 * to a file. A dump takes about 0.1 ms per virtual thread.
 */
public final class VirtualStacks {

    /** The stack of one virtual thread, the innermost frame first. */
    public record Stack(long id, String name, Thread.State state, StackTraceElement[] frames) {

        /**
         * Returns whether the thread seems to run on a carrier thread. A virtual thread that waits for a carrier thread
         * is RUNNABLE, too, but its innermost frame shows where it stopped running.
         */
        public boolean runs() {
            return state == Thread.State.RUNNABLE && !frames[0].getClassName().equals("java.lang.VirtualThread");
        }
    }

    /** The maximum number of threads to read from a dump. */
    static final int MAX_THREADS = 2_000;

    private static final int MAX_FRAMES = 256;

    /** The first Java version whose thread dumps may crash the JVM. */
    private static final int FIRST_UNSAFE = 25;

    /**
     * Matches a line such as {@code #23 "scheduling-1" virtual TIMED_WAITING 2026-…}. Before Java 25, the line contains
     * no state.
     */
    private static final Pattern HEADER = Pattern.compile("#(\\d+) \"(.*)\" virtual(?: ([A-Z_]+))?.*");

    /**
     * Matches a line such as {@code at java.base/java.lang.Thread.sleep(Thread.java:540)}. Before Java 25, the line
     * does not contain "at".
     */
    private static final Pattern FRAME =
            Pattern.compile("\\s+(?:at )?(?:[^\\s(]*/)?([^\\s(/]+)\\.([^\\s(.]+)\\(([^:)]*)(?::(\\d+))?\\)");

    private static final String PARK = "java.lang.VirtualThread.park";
    private static final Logger LOG = LoggerFactory.getLogger(VirtualStacks.class);

    private static final @Nullable MethodHandle DUMP = find();

    private VirtualStacks() {}

    /** Returns whether this JVM can list its virtual threads safely. */
    public static boolean isSupported() {
        return DUMP != null;
    }

    /**
     * Returns the stacks of the virtual threads. Returns an empty list if the JVM has no virtual threads or if no dump
     * could be written.
     */
    public static List<Stack> read() {
        List<Stack> stacks = readOrNull();
        return stacks == null ? List.of() : stacks;
    }

    /** Returns the stacks of the virtual threads. Returns null if they cannot be read. */
    static @Nullable List<Stack> readOrNull() {
        if (DUMP == null) {
            return null;
        }
        Path folder = null;
        try {
            folder = Files.createTempDirectory("rpc-threads");
            Path dump = folder.resolve("threads.txt");
            DUMP.invoke(dump.toString());
            try (BufferedReader lines = Files.newBufferedReader(dump)) {
                return parse(lines);
            }
        } catch (Throwable e) { // the diagnosis works without the stacks of virtual threads, too
            LOG.debug("The virtual threads cannot be listed", e);
            return null;
        } finally {
            delete(folder);
        }
    }

    private static void delete(@Nullable Path folder) {
        if (folder != null) {
            try {
                Files.deleteIfExists(folder.resolve("threads.txt"));
                Files.deleteIfExists(folder);
            } catch (IOException e) {
                LOG.debug("The dump of threads in {} cannot be deleted", folder, e);
            }
        }
    }

    /** Reads the virtual threads from a dump in plain text format. */
    static List<Stack> parse(Reader dump) throws IOException {
        BufferedReader lines = new BufferedReader(dump);
        List<Stack> stacks = new ArrayList<>();
        Matcher header = null;
        List<StackTraceElement> frames = new ArrayList<>();
        for (String line = lines.readLine(); line != null && stacks.size() < MAX_THREADS; line = lines.readLine()) {
            if (line.startsWith("#")) {
                Matcher next = HEADER.matcher(line);
                add(header, frames, stacks);
                header = next.matches() ? next : null;
                frames.clear();
            } else if (header != null && frames.size() < MAX_FRAMES) {
                Matcher frame = FRAME.matcher(line);
                if (frame.matches()) {
                    frames.add(frame(frame));
                }
            }
        }
        add(header, frames, stacks);
        return stacks;
    }

    private static void add(@Nullable Matcher header, List<StackTraceElement> frames, List<Stack> stacks) {
        if (header != null && !frames.isEmpty()) {
            stacks.add(new Stack(
                    Long.parseLong(header.group(1)),
                    header.group(2),
                    state(header.group(3), frames.get(0)),
                    frames.toArray(StackTraceElement[]::new)));
        }
    }

    private static StackTraceElement frame(Matcher frame) {
        String source = frame.group(3);
        boolean isNative = source.equals("Native Method");
        boolean isFile = !isNative && !source.equals("Unknown Source");
        int line = isNative ? -2 : frame.group(4) == null ? -1 : Integer.parseInt(frame.group(4));
        return new StackTraceElement(frame.group(1), frame.group(2), isFile ? source : null, line);
    }

    private static Thread.State state(@Nullable String state, StackTraceElement innermost) {
        if (state != null) {
            return Thread.State.valueOf(state);
        }
        boolean parked = (innermost.getClassName() + "." + innermost.getMethodName()).startsWith(PARK);
        return parked ? Thread.State.WAITING : Thread.State.RUNNABLE;
    }

    /**
     * Finds {@code HotSpotDiagnosticMXBean.dumpThreads}, which is available since Java 21. Returns null on older
     * versions, and also on Java 25 and later: the JVM 25.0.3 crashes within a second if virtual threads start and stop
     * waiting during a dump ({@code JVM_CreateThreadSnapshot}).
     */
    private static @Nullable MethodHandle find() {
        if (Runtime.version().feature() >= FIRST_UNSAFE) {
            return null;
        }
        try {
            Class<?> type = Class.forName("com.sun.management.HotSpotDiagnosticMXBean");
            Class<?> format = Class.forName(type.getName() + "$ThreadDumpFormat");
            Object plain = format.getField("TEXT_PLAIN").get(null);
            Object bean = ManagementFactory.getPlatformMXBean(type.asSubclass(PlatformManagedObject.class));
            MethodHandle dump = MethodHandles.publicLookup()
                    .findVirtual(type, "dumpThreads", MethodType.methodType(void.class, String.class, format));
            return MethodHandles.insertArguments(dump.bindTo(bean), 1, plain);
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            return null;
        }
    }
}
