package tern.rpc.diagnosis.sample;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.stack.StackReader;
import tern.rpc.diagnosis.stack.ThreadSnapshot;
import tern.rpc.diagnosis.stack.ThreadSnapshot.Carrier;
import tern.rpc.pool.ApplicationCode;

/**
 * Records which code occupied the carrier threads of virtual threads whenever a call waited for a carrier thread. Not
 * thread-safe: only one thread uses it.
 */
public final class CarrierThreads {

    private static final int MAX_CALLS = 2_048; // the maximum number of calls to inspect at one moment
    private static final int MAX_STACKS = 16; // the maximum number of stacks to read at one moment
    private static final int MAX_PLACES = 256;

    /** The weight of a sample of a thread that serves no call. The stacks of these threads are read less often. */
    private static final double WEIGHT_OF_OTHERS = 10;

    /** The minimum number of samples. Fewer samples do not show which code occupies the carrier threads. */
    private static final int MIN_SAMPLES = 4;

    /** Code counts as occupying the carrier threads if at least {@value} of the samples show it there. */
    private static final double MAIN = 0.2;

    // the code that ran on carrier threads, with the sum of the weights of its samples
    private Times code = new Times();
    private final Map<Part, String> lines = new HashMap<>();
    private double samples; // the number of samples of virtual threads that occupied a carrier thread
    private double weight; // the sum of the weights of all samples
    private double moments; // the number of inspections that found a call waiting for a carrier thread
    private double waiting; // the total number of waiting calls in all inspections that found at least one

    /**
     * Records a moment in which calls wait for a carrier thread.
     *
     * @param looks the stacks read in this moment, by thread id
     */
    void look(List<RunningCall> running, Map<Long, ThreadSnapshot> looks) {
        int waits = 0;
        int left = MAX_STACKS;
        for (RunningCall call : running.subList(0, Math.min(MAX_CALLS, running.size()))) {
            for (CallThread worker : CallThread.of(call)) {
                ThreadSnapshot known = looks.get(worker.id());
                Carrier carrier = known == null ? Carrier.of(worker.work().thread()) : known.carrier();
                waits += carrier == Carrier.AWAITED ? 1 : 0;
                if (carrier == Carrier.TAKEN && left-- > 0) {
                    addOfCall(known == null ? worker.virtual() : known);
                }
            }
        }
        addMoment(Math.max(1, waits));
    }

    /** Adds a moment in which the given number of calls, at least one, waited for a carrier thread. */
    public void addMoment(int waitingCalls) {
        moments++;
        waiting += waitingCalls;
    }

    /** Adds the thread of a call that occupies a carrier thread while other calls wait for one. */
    public void addOfCall(@Nullable ThreadSnapshot thread) {
        if (thread != null) {
            add(thread, 1);
        }
    }

    /** Adds a thread that serves no call and occupies a carrier thread while calls wait for one. */
    public void addOther(ThreadSnapshot thread) {
        add(thread, WEIGHT_OF_OTHERS);
    }

    private void add(ThreadSnapshot thread, double by) {
        samples++;
        weight += by;
        Part part = StackReader.read(thread);
        StackTraceElement line = StackReader.first(thread);
        if (part.kind() == Part.Kind.COMPUTING && line != null && (code.of(part) > 0 || lines.size() < MAX_PLACES)) {
            code.add(part, by);
            StackTraceElement caller = StackReader.callerOf(line, StackReader.path(thread));
            lines.putIfAbsent(
                    part,
                    ApplicationCode.shown(line)
                            + (caller == null ? "" : ", called from " + ApplicationCode.shown(caller)));
        }
    }

    /**
     * Returns the code that kept the carrier threads busy, and the share of the samples that show this. The result is
     * empty if no code was found much more often than other code.
     */
    public Times occupying() {
        Times main = code.only(part -> code.of(part) >= MAIN * weight);
        if (samples < MIN_SAMPLES || 2 * main.sum() < weight) {
            return new Times();
        }
        main.scale(1 / weight);
        return main;
    }

    /**
     * Returns the mean number of calls that waited for a carrier thread, over the moments in which at least one call
     * waited.
     */
    public double waiting() {
        return moments == 0 ? 0 : waiting / moments;
    }

    /** Returns the line of the given code and the line of its caller; null if the code ran on no carrier thread. */
    public @Nullable String lineOf(Part part) {
        return lines.get(part);
    }

    void halve() {
        code.scale(0.5);
        samples /= 2;
        weight /= 2;
        moments /= 2;
        waiting /= 2;
    }

    void clear() {
        code = new Times();
        lines.clear();
        samples = 0;
        weight = 0;
        moments = 0;
        waiting = 0;
    }
}
