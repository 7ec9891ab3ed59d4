package tern.rpc.evidence;

import tern.rpc.evidence.ControlGroups.Hierarchy;
import tern.rpc.evidence.Machine.Stalls;
import tern.rpc.evidence.Machine.Stalls.Stall;

/**
 * Reads pressure stall information (PSI) of the process's own control group. If the group provides none, reads the
 * pressure information of the machine.
 */
final class PressureReader {

    private static final long NANOS_A_MICRO = 1_000;

    private PressureReader() {}

    static Stalls read(SystemFiles files, Hierarchy unified) {
        String group = unified.folders().isEmpty() ? "" : unified.folders().get(0);
        boolean ofGroup = !group.isEmpty() && files.exists(group + "/cpu.pressure");
        String before = ofGroup ? group + "/" : "proc/pressure/";
        String after = ofGroup ? ".pressure" : "";
        return new Stalls(
                ofGroup,
                stall(files.text(before + "cpu" + after)),
                stall(files.text(before + "memory" + after)),
                stall(files.text(before + "io" + after)));
    }

    private static Stall stall(String text) {
        return text.isEmpty() ? Stall.MISSING : new Stall(total(text, "some"), total(text, "full"));
    }

    /**
     * Returns the total from a line such as {@code some avg10=0.00 avg60=0.00 avg300=1.94 total=3926630015}. The total
     * is in microseconds.
     */
    private static long total(String text, String kind) {
        String line = Figures.textAfter(text, kind);
        int at = line.indexOf("total=");
        return at < 0
                ? Figures.MISSING
                : Figures.times(Figures.number(line.substring(at + "total=".length())), NANOS_A_MICRO);
    }
}
