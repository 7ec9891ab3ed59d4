package tern.rpc.diagnosis.machine;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.NanoClock;
import tern.rpc.evidence.VirtualStacks;
import tern.rpc.pool.ApplicationCode;

/**
 * Finds the code that virtual threads run on their carrier threads. The stacks of the carrier threads do not contain
 * this code. Not thread-safe: only one thread uses it.
 */
final class CarrierCode {

    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final int COST_FACTOR = 100;
    private static final int MAX_PLACES = 64;

    /** The package prefixes of web servers, which run calls on virtual threads. */
    private static final List<String> SERVERS = List.of(
            "org.apache.catalina.",
            "org.apache.coyote.",
            "org.eclipse.jetty.server.",
            "org.eclipse.jetty.ee",
            "io.undertow.server.");

    private final Supplier<List<VirtualStacks.Stack>> stacks;
    private final NanoClock clock;
    private final Map<Place, Integer> places = new HashMap<>();
    private long next; // when the stacks of virtual threads are read next; 0 before they were first read

    /**
     * A place in the application's code.
     *
     * @param isOfCalls whether a web server called the code
     */
    record Place(String line, boolean isOfCalls) {}

    CarrierCode(Supplier<List<VirtualStacks.Stack>> stacks, NanoClock clock) {
        this.stacks = stacks;
        this.clock = clock;
    }

    /**
     * Returns the code that most samples of running virtual threads have shown so far; null if there is none. First
     * samples the stacks of the virtual threads, unless they were sampled a short time ago.
     */
    @Nullable
    Place most() {
        long begun = clock.nanoTime();
        if (next == 0 || begun - next >= 0) {
            for (VirtualStacks.Stack stack : stacks.get()) {
                StackTraceElement frame = stack.runs() ? ApplicationCode.first(stack.frames()) : null;
                if (frame != null && places.size() < MAX_PLACES) {
                    places.merge(new Place(ApplicationCode.shown(frame), servesCall(stack)), 1, Integer::sum);
                }
            }
            long now = clock.nanoTime();
            next = now + Math.max(PAUSE_NANOS, COST_FACTOR * (now - begun));
        }
        return places.entrySet().stream()
                .max(Map.Entry.<Place, Integer>comparingByValue()
                        .thenComparing(entry -> entry.getKey().line()))
                .map(Map.Entry::getKey)
                .orElse(null);
    }

    private static boolean servesCall(VirtualStacks.Stack stack) {
        for (StackTraceElement frame : stack.frames()) {
            if (SERVERS.stream().anyMatch(frame.getClassName()::startsWith)) {
                return true;
            }
        }
        return false;
    }

    void clear() {
        places.clear();
    }
}
