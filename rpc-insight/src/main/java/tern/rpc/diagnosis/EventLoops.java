package tern.rpc.diagnosis;

import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.Cause.Change;
import tern.rpc.diagnosis.Cause.Where;
import tern.rpc.diagnosis.CauseText.Told;
import tern.rpc.diagnosis.Part.Kind;

/**
 * Recognizes code that blocks an event loop. The thread of an event loop serves many connections, so every wait on this
 * thread delays all of them.
 */
final class EventLoops {

    /** The kinds of waits that code can avoid with a non-blocking client, or by running on another thread. */
    private static final Set<Kind> BLOCKING = EnumSet.of(
            Kind.SLEEP, Kind.RESULT, Kind.FILE, Kind.SOCKET, Kind.SQL, Kind.REDIS, Kind.HTTP, Kind.RPC, Kind.POOL);

    private EventLoops() {}

    /**
     * Returns whether the thread is an event loop. The classes that run the loops of Netty, Vert.x, Undertow and Aeron
     * have common words in their names. Reactor runs the tasks of its parallel scheduler on threads that must not block
     * either.
     */
    static boolean isOne(ThreadLook thread) {
        boolean isReactor = thread.name().startsWith("parallel-");
        for (StackTraceElement frame : thread.frames()) {
            String type = frame.getClassName();
            String simple = type.substring(type.lastIndexOf('.') + 1);
            if (simple.startsWith("DefaultEventExecutor")) {
                return false; // a thread of Netty for blocking work
            }
            boolean isLoop = !ThreadLook.isPlatform(type)
                    && (simple.contains("EventLoop")
                            || simple.startsWith("SingleThreadEventExecutor")
                            || (simple.startsWith("WorkerThread") && type.startsWith("org.xnio.")));
            if (isLoop || (isReactor && type.startsWith("reactor.core.scheduler."))) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns what the thread of a call does. If the thread is an event loop, a wait is named after the code that blocks
     * the loop.
     *
     * @param read what the stack of the thread shows
     */
    static Part ofCall(Part read, ThreadLook thread) {
        boolean waits = BLOCKING.contains(read.kind()) && StackReader.first(thread) != null;
        return waits && isOne(thread) ? new Part(Kind.EVENT_LOOP, StackReader.place(thread)) : read;
    }

    /** Returns the event loop that most of the calls with this part ran on; null if there is none. */
    static @Nullable String loopOf(Part part, Evidence evidence, Excess excess) {
        Map<String, Integer> loops = new TreeMap<>();
        int calls = 0;
        for (Excess.Counted counted : excess.accounts) {
            Sampler.Samples samples = evidence.samples().get(counted.call().ledger());
            if (samples != null && counted.times().of(part) > 0) {
                calls++;
                if (samples.eventLoop != null) {
                    loops.merge(samples.eventLoop, 1, Integer::sum);
                }
            }
        }
        int all = loops.values().stream().mapToInt(Integer::intValue).sum();
        return 2 * all < Math.max(1, calls)
                ? null
                : loops.entrySet().stream()
                        .max(Map.Entry.comparingByValue())
                        .map(Map.Entry::getKey)
                        .orElse(null);
    }

    /** @param shown the line that blocks the loop, with the method that it calls */
    static Told told(Part part, String shown, String loop) {
        return new Told(
                "EVENT LOOP BLOCKED",
                part.name(),
                Change.of(
                        Where.CODE,
                        "blocks the event loop " + loop + " at " + shown + ": all requests of this loop wait meanwhile;"
                                + " use a non-blocking client, or run this code on other threads"
                                + " (subscribeOn(Schedulers.boundedElastic()), an executor)"),
                List.of());
    }
}
