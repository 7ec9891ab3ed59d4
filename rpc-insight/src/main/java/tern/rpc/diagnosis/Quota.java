package tern.rpc.diagnosis;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The processor quota of the container: {@code cpu.max} and {@code cpu.stat} of cgroup v2, {@code cpu.cfs_quota_us} and
 * {@code cpu.stat} of v1, as they are mounted inside of containers.
 *
 * @param processors infinite if there is no quota
 * @param stat the file of periods; null if there is none
 */
record Quota(double processors, @Nullable Path stat) {

    private static final List<Path> DIRECTORIES =
            List.of(Path.of("/sys/fs/cgroup"), Path.of("/sys/fs/cgroup/cpu"), Path.of("/sys/fs/cgroup/cpu,cpuacct"));

    /**
     * The quota's periods so far.
     *
     * @param throttled the periods in which the process was stopped
     */
    record Use(long periods, long throttled) {

        static final Use NONE = new Use(0, 0);

        /** The share of throttled periods; 0 if there were none. */
        double throttledSince(Use earlier) {
            long passed = periods - earlier.periods;
            return passed <= 0 ? 0 : (double) (throttled - earlier.throttled) / passed;
        }
    }

    static Quota find() {
        return find(DIRECTORIES);
    }

    static Quota find(List<Path> directories) {
        for (Path directory : directories) {
            double processors = processors(directory);
            Path stat = directory.resolve("cpu.stat");
            if (Files.isReadable(stat) && processors > 0) {
                return new Quota(processors, stat);
            }
        }
        return new Quota(Double.POSITIVE_INFINITY, null);
    }

    /** @return -1 if the directory has no file of a quota */
    private static double processors(Path directory) {
        try {
            Path v2 = directory.resolve("cpu.max");
            if (Files.isReadable(v2)) {
                String[] words = Files.readString(v2).strip().split(" ");
                return words[0].equals("max") ? Double.POSITIVE_INFINITY : divide(words[0], words[1]);
            }
            Path v1 = directory.resolve("cpu.cfs_quota_us");
            if (Files.isReadable(v1)) {
                String quota = Files.readString(v1).strip();
                return quota.startsWith("-")
                        ? Double.POSITIVE_INFINITY
                        : divide(
                                quota,
                                Files.readString(directory.resolve("cpu.cfs_period_us"))
                                        .strip());
            }
        } catch (IOException | RuntimeException e) {
            return -1; // no access, or another form
        }
        return -1;
    }

    private static double divide(String quota, String period) {
        return Double.parseDouble(quota) / Double.parseDouble(period);
    }

    Use use() {
        if (stat == null) {
            return Use.NONE;
        }
        try {
            long periods = 0;
            long throttled = 0;
            for (String line : Files.readAllLines(stat)) {
                String[] words = line.split(" ");
                if (words.length == 2 && words[0].equals("nr_periods")) {
                    periods = Long.parseLong(words[1]);
                } else if (words.length == 2 && words[0].equals("nr_throttled")) {
                    throttled = Long.parseLong(words[1]);
                }
            }
            return new Use(periods, throttled);
        } catch (IOException | RuntimeException e) {
            return Use.NONE;
        }
    }
}
