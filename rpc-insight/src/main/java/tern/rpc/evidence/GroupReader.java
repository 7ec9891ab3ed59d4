package tern.rpc.evidence;

import java.util.ArrayList;
import java.util.List;
import tern.rpc.evidence.ControlGroups.Hierarchy;
import tern.rpc.evidence.Machine.Memory;
import tern.rpc.evidence.Machine.Quota;
import tern.rpc.evidence.Machine.Quota.Level;

/**
 * Reads the limits and counters of control groups (cgroup v1 or v2), from the process's own group up to the mounted
 * group.
 */
final class GroupReader {

    /**
     * The minimum limit of a cgroup v1 group that counts as unlimited. For an unlimited group, the kernel reports a
     * value close to 2^63.
     */
    private static final long NO_LIMIT = 1L << 60;

    private static final long PAGE = 4096;

    private GroupReader() {}

    static Quota quota(SystemFiles files, Hierarchy cpu) {
        List<Level> levels = new ArrayList<>();
        for (String folder : cpu.folders()) {
            double processors = cpu.second() ? secondQuota(files, folder) : firstQuota(files, folder);
            if (processors > 0) {
                String stat = files.text(folder + "/cpu.stat");
                levels.add(new Level(
                        folder, processors, Figures.named(stat, "nr_periods"), Figures.named(stat, "nr_throttled")));
            }
        }
        return new Quota(levels);
    }

    /**
     * Returns the quota from {@code cpu.max}, as a number of processors. The file contains either {@code max 100000},
     * or the quota and the period in microseconds.
     */
    private static double secondQuota(SystemFiles files, String folder) {
        String max = optional(files, folder + "/cpu.max");
        return ratio(Figures.field(max, 0), Figures.field(max, 1));
    }

    private static double firstQuota(SystemFiles files, String folder) {
        long quota = Figures.number(optional(files, folder + "/cpu.cfs_quota_us"));
        return quota < 0 ? -1 : ratio(quota, Figures.number(optional(files, folder + "/cpu.cfs_period_us")));
    }

    private static double ratio(long quota, long period) {
        return quota < 0 || period <= 0 ? -1 : (double) quota / period;
    }

    static Memory memory(SystemFiles files, Hierarchy memory, String paging) {
        String tightest = "";
        long limit = NO_LIMIT;
        for (String folder : memory.folders()) {
            String file = folder + (memory.second() ? "/memory.max" : "/memory.limit_in_bytes");
            // The file may contain the word "max" instead of a number.
            long candidate = Figures.number(optional(files, file));
            if (tightest.isEmpty() || (candidate >= 0 && candidate < limit)) {
                tightest = folder;
                limit = candidate < 0 ? NO_LIMIT : Math.min(limit, candidate);
            }
        }
        String stat = files.text("proc/self/stat");
        String afterName = stat.substring(stat.lastIndexOf(')') + 1);
        String events = memory.second() && !tightest.isEmpty() ? optional(files, tightest + "/memory.events") : "";
        return new Memory(
                limit >= NO_LIMIT ? Figures.MISSING : limit,
                tightest.isEmpty() ? Figures.MISSING : used(files, memory, tightest),
                memory.second() ? Figures.named(events, "max") : firstFailures(files, tightest),
                Figures.named(events, "high"),
                Figures.field(afterName, 9),
                Figures.times(Figures.named(paging, "pswpin"), PAGE));
    }

    private static long used(SystemFiles files, Hierarchy memory, String folder) {
        String file = folder + (memory.second() ? "/memory.current" : "/memory.usage_in_bytes");
        return Figures.number(optional(files, file));
    }

    private static long firstFailures(SystemFiles files, String folder) {
        return Figures.number(optional(files, folder + "/memory.failcnt"));
    }

    /**
     * Reads a file that may be missing. The topmost group has no limits, so missing files of this group are not
     * reported.
     */
    private static String optional(SystemFiles files, String path) {
        return files.exists(path) ? files.text(path) : "";
    }
}
