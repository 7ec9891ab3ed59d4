package tern.rpc.diagnosis.machine;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/** The programs that this process has started. */
public final class ChildProcesses {

    /**
     * Only programs that have run for at most this time are considered. Older programs are assumed to be unrelated to
     * the current calls.
     */
    private static final Duration YOUNG = Duration.ofMinutes(1);

    private ChildProcesses() {}

    /**
     * How long a program is remembered after it was last seen, because most short-lived programs end before the next
     * check.
     */
    private static final Duration REMEMBERED = Duration.ofSeconds(10);

    private static volatile @Nullable Seen last;

    private record Seen(String name, Instant at) {}

    /**
     * Returns whether a thread in the given method waits for a program to end.
     *
     * @param called the method, with the simple name of its class
     */
    public static boolean isWait(String called) {
        return called.matches("Process(?:Impl)?\\.waitFor");
    }

    /**
     * Returns the file name of the most recently started child process that is still running and was started within the
     * last minute. Otherwise, returns the name that this method found within the last 10 seconds; null if it found
     * none.
     */
    public static @Nullable String youngest() {
        Instant now = Instant.now();
        String running = running(now.minus(YOUNG));
        if (running != null) {
            last = new Seen(running, now);
            return running;
        }
        Seen seen = last;
        return seen != null && seen.at().isAfter(now.minus(REMEMBERED)) ? seen.name() : null;
    }

    private static @Nullable String running(Instant from) {
        return ProcessHandle.current()
                .children()
                .map(ProcessHandle::info)
                .filter(info -> info.command().isPresent()
                        && info.startInstant().filter(from::isBefore).isPresent())
                .max(Comparator.comparing(info -> info.startInstant().orElse(Instant.MIN)))
                .map(info ->
                        String.valueOf(Path.of(info.command().orElseThrow()).getFileName()))
                .orElse(null);
    }
}
