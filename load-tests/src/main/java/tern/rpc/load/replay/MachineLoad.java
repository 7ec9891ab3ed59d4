package tern.rpc.load.replay;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The share of the machine's processors that all processes together use, as reported by Linux. */
final class MachineLoad {

    private final Path file;

    MachineLoad() {
        this(Path.of("/proc/stat"));
    }

    MachineLoad(Path file) {
        this.file = file;
    }

    /** The processor time since the machine started, in ticks. */
    record Sums(long all, long idle) {

        /**
         * Returns the CPU utilization since an earlier reading, from 0 to 1. The result is negative if it is unknown.
         */
        double busySince(Sums earlier) {
            long passed = all - earlier.all;
            return passed <= 0 ? -1 : 1 - (double) (idle - earlier.idle) / passed;
        }
    }

    Sums read() {
        try {
            List<String> lines = Files.readAllLines(file);
            return lines.isEmpty() ? new Sums(0, 0) : sums(lines.get(0));
        } catch (IOException e) {
            return new Sums(0, 0); // The load is unknown, because the file exists only on Linux.
        }
    }

    /** @param line the line {@code cpu user nice system idle iowait irq softirq steal guest guest_nice}, see proc(5) */
    private static Sums sums(String line) {
        String[] words = line.strip().split("\\s+");
        long all = 0;
        long idle = 0;
        // The time of guest systems is not added, because "user" already includes it.
        for (int i = 1; i < Math.min(words.length, 9); i++) {
            long ticks = Long.parseLong(words[i]);
            all += ticks;
            idle += i == 4 || i == 5 ? ticks : 0;
        }
        return new Sums(all, idle);
    }
}
