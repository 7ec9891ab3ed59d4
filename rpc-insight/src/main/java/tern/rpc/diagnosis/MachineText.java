package tern.rpc.diagnosis;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.Cause.Change;
import tern.rpc.diagnosis.Cause.Where;
import tern.rpc.diagnosis.CauseText.Told;
import tern.rpc.diagnosis.Part.Kind;
import tern.rpc.pool.ApplicationCode;

/** Texts for processors, memory and code that computes. */
final class MachineText {

    private static final double NEARLY_FULL = 0.85;
    private static final double MUCH_MORE = 2;

    private final Evidence evidence;
    private final Excess excess;

    MachineText(Evidence evidence, Excess excess) {
        this.evidence = evidence;
        this.excess = excess;
    }

    Told told(Part part) {
        return switch (part.kind()) {
            case COMPUTING -> computing(part);
            case DECODE ->
                new Told(
                        "LARGE REQUESTS",
                        "decoding",
                        Change.of(Where.PEER, "smaller requests: reading them takes most of the time"),
                        List.of());
            case RUN_QUEUE -> processors();
            case THROTTLED ->
                new Told(
                        "PROCESSOR QUOTA",
                        "quota of the container",
                        Change.of(Where.MACHINE, "a higher CPU limit of the container, or none"),
                        withBusy(List.of(percent("stopped", evidence.machine().throttled(), "of the periods"))));
            case COLLECTOR -> collector();
            case JVM_PAUSE ->
                new Told(
                        "JVM PAUSE",
                        "pauses that no collector explains",
                        Change.of(
                                Where.MACHINE,
                                "-Xlog:safepoint shows what stops the JVM; often a thread dump or a class"
                                        + " redefinition"),
                        List.of());
            default ->
                new Told(
                        "PROCESS STOOD STILL",
                        "pauses from outside",
                        Change.of(
                                Where.MACHINE,
                                "what stops the process: the host, a debugger, swapping, a snapshot of the"
                                        + " machine"),
                        faults());
        };
    }

    private Told computing(Part part) {
        StackTraceElement line = excess.lineOf(part);
        String shown = line == null ? part.name() : ApplicationCode.shown(line);
        List<String> facts = new ArrayList<>();
        if (line != null) {
            facts.add("line     " + shown);
        }
        return new Told(
                "CODE COMPUTES",
                part.name(),
                Change.of(Where.CODE, "less work in " + shown + "; no pool size helps"),
                withBusy(facts));
    }

    private Told processors() {
        Machine machine = evidence.machine();
        boolean others = machine.others() > machine.own();
        Part code = longestComputing();
        Machine.Burner burner =
                machine.burners().isEmpty() ? null : machine.burners().get(0);
        String text;
        if (others) {
            text = "other processes of this machine: they keep " + one(machine.others()) + " processors busy";
        } else if (burner != null && burner.processors() > 0.5 * Math.max(0.1, machine.own()) && !serves(burner)) {
            text = "the threads " + burner.name() + "*: they keep " + one(burner.processors()) + " processors busy";
        } else if (code != null) {
            StackTraceElement line = excess.lineOf(code);
            text = "less work in " + (line == null ? code.name() : ApplicationCode.shown(line))
                    + ", or more processors";
        } else {
            text = "more processors, or fewer calls on this machine";
        }
        return new Told(
                "PROCESSORS",
                others ? "other processes" : burner == null ? "own threads" : burner.name(),
                Change.of(others ? Where.MACHINE : Where.CODE, text),
                withBusy(List.of()));
    }

    private static boolean serves(Machine.Burner burner) {
        return burner.name().startsWith("rpc-") || burner.name().startsWith("http-nio");
    }

    private @Nullable Part longestComputing() {
        for (Part part : excess.account.longestFirst()) {
            if (part.kind() == Kind.COMPUTING) {
                return part;
            }
        }
        return null;
    }

    private Told collector() {
        Machine machine = evidence.machine();
        List<String> facts = new ArrayList<>();
        facts.add(percent("paused", machine.collecting(), "of the time"));
        if (machine.live() >= 0) {
            facts.add(percent("live", machine.live(), "of the old generation after collections"));
        }
        if (machine.allocatedPerSecond() >= 0) {
            facts.add(String.format(
                    Locale.ROOT,
                    "allocates %.0f MB/s%s",
                    machine.allocatedPerSecond() / 1e6,
                    machine.usuallyAllocatedPerSecond() > 0
                            ? String.format(Locale.ROOT, ", usually %.0f", machine.usuallyAllocatedPerSecond() / 1e6)
                            : ""));
        }
        Part code = longestComputing();
        String who = code == null ? "" : "; look at " + code.name() + " first";
        if (machine.live() >= NEARLY_FULL) {
            return new Told(
                    "COLLECTOR: heap nearly full",
                    "heap",
                    Change.of(
                            Where.CODE,
                            "bound what is kept in memory (caches, queues, sessions); if all of it is needed,"
                                    + " a larger -Xmx" + who),
                    facts);
        }
        boolean more = machine.usuallyAllocatedPerSecond() > 0
                && machine.allocatedPerSecond() > MUCH_MORE * machine.usuallyAllocatedPerSecond();
        return new Told(
                more ? "COLLECTOR: more allocation" : "COLLECTOR",
                "collector",
                Change.of(Where.CODE, "fewer or smaller objects a call" + who),
                facts);
    }

    private List<String> faults() {
        double faults = evidence.machine().majorFaultsPerSecond();
        return faults > 1
                ? List.of(String.format(Locale.ROOT, "swap     %.0f pages/s read from disk", faults))
                : List.of();
    }

    private List<String> withBusy(List<String> facts) {
        Machine machine = evidence.machine();
        List<String> all = new ArrayList<>(facts);
        if (machine.own() >= 0) {
            all.add("busy     " + one(machine.own()) + " of " + one(machine.processors())
                    + " processors by this process, " + one(Math.max(0, machine.others())) + " by others");
        }
        for (Machine.Burner burner :
                machine.burners().subList(0, Math.min(3, machine.burners().size()))) {
            all.add("threads  " + burner.name() + "* (" + burner.threads() + "): " + one(burner.processors()));
        }
        return all;
    }

    private static String percent(String word, double share, String of) {
        return String.format(Locale.ROOT, "%-8s %.0f %% %s", word, Math.max(0, share) * 100, of);
    }

    private static String one(double value) {
        return String.format(Locale.ROOT, "%.1f", value);
    }
}
