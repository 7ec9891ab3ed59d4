package tern.rpc.spring.autoconfigure.advice;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The time of all processors of the machine so far, as Linux counts it: in ticks, over all processes.
 *
 * @param busy ticks of work
 * @param all ticks of work, idle time and waits for disks
 */
record MachineTime(long busy, long all) {

    /** The value on a system that does not provide it. */
    static final MachineTime UNKNOWN = new MachineTime(0, 0);

    private static final Path FILE = Path.of("/proc/stat");
    private static final int IDLE = 4;
    private static final int WAITING_FOR_DISKS = 5;
    private static final int LAST = 8; // later columns are part of "user"

    static MachineTime now() {
        try (var lines = Files.lines(FILE)) {
            return lines.findFirst().map(MachineTime::of).orElse(UNKNOWN);
        } catch (IOException | SecurityException e) {
            return UNKNOWN; // another system, or no access
        }
    }

    /** @param line {@code cpu user nice system idle iowait irq softirq steal guest guest_nice}, see proc(5) */
    static MachineTime of(String line) {
        String[] words = line.strip().split("\\s+");
        long all = 0;
        long unused = 0;
        for (int i = 1; i < words.length && i <= LAST; i++) {
            if (!words[i].matches("[0-9]{1,18}")) {
                return UNKNOWN;
            }
            long ticks = Long.parseLong(words[i]);
            all += ticks;
            unused += i == IDLE || i == WAITING_FOR_DISKS ? ticks : 0;
        }
        return new MachineTime(all - unused, all);
    }

    /** The busy share from 0 to 1; 0 if it is unknown. */
    double busySince(MachineTime earlier) {
        long passed = all - earlier.all;
        return passed <= 0 ? 0 : Math.max(0, (double) (busy - earlier.busy) / passed);
    }
}
