package tern.rpc.diagnosis;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/** The programs that this process has started. */
final class ChildProcesses {

    /** A program that has run for longer than this time was not started by a call. */
    private static final Duration YOUNG = Duration.ofMinutes(1);

    private ChildProcesses() {}

    /** Returns the file name of the program that was started last; null if none was started in the last minute. */
    static @Nullable String youngest() {
        Instant from = Instant.now().minus(YOUNG);
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
