package tern.rpc.diagnosis.text;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.machine.HeapGrowth;
import tern.rpc.diagnosis.machine.Machine;
import tern.rpc.diagnosis.sample.SampledCall;
import tern.rpc.pool.ApplicationCode;

/** Creates texts about a heap that is filling up, and about the code that allocates. */
public final class HeapText {

    /** The name prefix of the threads of the diagnosis itself, which do more work while calls are late. */
    private static final String DIAGNOSIS = "rpc-diagnosis";

    /** The diagnosis names threads that allocate at least {@value} bytes per second. */
    private static final double MIN_ALLOCATION = 10e6;

    /** The text names a line of code only if at least {@value} samples show it. */
    private static final int MIN_LOOKS = 3;

    private HeapText() {}

    /**
     * Returns lines about a heap that will soon be full although calls still meet the latency target.
     *
     * @param samples the samples of calls, which show the code that allocates
     */
    public static List<String> lines(HeapGrowth growth, Machine machine, Collection<SampledCall> samples) {
        List<String> lines = new ArrayList<>();
        lines.add(growth.line(machine.allocatedPerSecond()));
        lines.add("full     " + growth.untilFull());
        lines.add("CHANGE   " + nearlyFull(machine) + allocators(growth, machine, samples));
        return lines;
    }

    private static String allocators(HeapGrowth growth, Machine machine, Collection<SampledCall> samples) {
        // Slow growth fills the heap as well. Therefore the limit for naming threads is lowered to half of the growth
        // per second.
        Machine.Burner top = mostAllocating(machine, Math.min(MIN_ALLOCATION, growth.keptPerSecond() / 2));
        String code = top == null || top.servesCalls() ? mostFrequent(samples) : null;
        if (code != null) {
            return "; check " + code + " first, which calls run most often"
                    + (top == null
                            ? ""
                            : String.format(Locale.ROOT, ": they allocate %.0f MB/s", top.allocatedPerSecond() / 1e6));
        }
        return top == null ? "" : "; " + text(top);
    }

    /** Returns the line of code that most samples of computing calls show; null if there are too few samples. */
    private static @Nullable String mostFrequent(Collection<SampledCall> samples) {
        Map<String, Integer> lines = new HashMap<>();
        for (SampledCall ofCall : samples) {
            for (Sample sample : ofCall.list) {
                StackTraceElement line = sample.line();
                if (line != null && sample.isComputing()) {
                    lines.merge(ApplicationCode.shown(line), 1, Integer::sum);
                }
            }
        }
        return lines.entrySet().stream()
                .filter(entry -> entry.getValue() >= MIN_LOOKS)
                .max(Map.Entry.<String, Integer>comparingByValue().thenComparing(Map.Entry.comparingByKey()))
                .map(Map.Entry::getKey)
                .orElse(null);
    }

    /** Returns the threads that allocate the most memory; null if no threads allocate much. */
    static Machine.@Nullable Burner mostAllocating(Machine machine) {
        return mostAllocating(machine, MIN_ALLOCATION);
    }

    private static Machine.@Nullable Burner mostAllocating(Machine machine, double least) {
        return machine.burners().stream()
                .filter(burner -> !burner.name().startsWith(DIAGNOSIS))
                .max(Comparator.comparingDouble(Machine.Burner::allocatedPerSecond))
                .filter(top -> top.allocatedPerSecond() >= least)
                .orElse(null);
    }

    /** Returns a text about threads that allocate a lot of memory, with the code that they run. */
    static String text(Machine.Burner top) {
        return String.format(
                Locale.ROOT,
                "%s allocate%s, %.0f MB/s",
                top.place() == null && Machine.Burner.mayBeCarriers(top.name())
                        ? "the virtual threads that serve calls"
                        : top.name() + "*",
                top.place() == null ? "" : " in " + top.place(),
                top.allocatedPerSecond() / 1e6);
    }

    /**
     * Returns the advice for a nearly full heap. A larger heap is recommended only if it fits within the container's
     * memory limit.
     */
    static String nearlyFull(Machine machine) {
        long heap = Runtime.getRuntime().maxMemory() >> 20;
        long limit =
                machine.second() == null ? -1 : machine.second().to().memory().limitBytes() >> 20;
        String larger = limit > 0 && heap * 2 > limit * 0.75
                ? "give the container more memory: its limit is " + limit + " MB"
                : "set -Xmx" + heap * 2 + "m" + (limit > 0 ? " (limit " + limit + " MB)" : "");
        return "limit the size of caches, queues and sessions in memory; if all of their content is needed, " + larger;
    }
}
