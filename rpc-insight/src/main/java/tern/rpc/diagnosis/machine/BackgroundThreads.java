package tern.rpc.diagnosis.machine;

import java.util.List;
import java.util.Locale;

/** Names application threads that serve no call but use a lot of processor time while the processors are saturated. */
public final class BackgroundThreads {

    /** The diagnosis names threads that serve no call if they keep at least {@value} of the processors busy. */
    private static final double MUCH = 0.2;

    private BackgroundThreads() {}

    /**
     * Returns one fact for each group of threads that serve no call but use a lot of processor time. Returns an empty
     * list while processors are free.
     */
    public static List<String> facts(Machine machine) {
        return machine.isFull()
                ? machine.burners().stream()
                        .filter(burner -> burner.place() != null && !burner.servesCalls())
                        .filter(burner -> burner.processors() >= MUCH * machine.processors())
                        .map(BackgroundThreads::line)
                        .toList()
                : List.of();
    }

    private static String line(Machine.Burner burner) {
        return String.format(
                Locale.ROOT,
                "threads  %s* (%d): %.1f in %s",
                burner.name(),
                burner.threads(),
                burner.processors(),
                burner.place());
    }
}
