package tern.rpc.evidence;

import tern.rpc.evidence.ControlGroups.Hierarchy;
import tern.rpc.evidence.Machine.Stalls;

/**
 * Reads pressure stall information (PSI) of the process's own control group. If the group provides none, reads the
 * pressure information of the machine.
 */
final class PressureReader {

    private static final long NANOS_A_MICRO = 1_000;

    private PressureReader() {}

    static Stalls read(SystemFiles files, Hierarchy unified) {
        String group = unified.folders().isEmpty() ? "" : unified.folders().get(0);
        boolean ofGroup = !group.isEmpty() && files.exists(group + "/memory.pressure");
        String before = ofGroup ? group + "/" : "proc/pressure/";
        String after = ofGroup ? ".pressure" : "";
        return new Stalls(
                ofGroup,
                stalledNanos(files.text(before + "memory" + after)),
                stalledNanos(files.text(before + "io" + after)));
    }

    /**
     * Returns the total from the line that begins with "some", such as {@code some avg10=0.00 avg60=0.00 avg300=1.94
     * total=3926630015}. The total is in microseconds.
     */
    private static long stalledNanos(String text) {
        String line = Figures.textAfter(text, "some");
        int at = line.indexOf("total=");
        return at < 0
                ? Figures.MISSING
                : Figures.times(Figures.number(line.substring(at + "total=".length())), NANOS_A_MICRO);
    }
}
