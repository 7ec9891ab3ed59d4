package tern.rpc.diagnosis.machine;

import java.util.List;

/** Recognizes the threads of the diagnosis itself, which do more work while calls are late. */
public final class OwnThreads {

    /**
     * The prefixes of the names of these threads: the threads of the diagnosis, and the threads of the flight recorder,
     * which the diagnosis starts.
     */
    private static final List<String> NAMES =
            List.of("rpc-diagnosis", "rpc-flight-recorder", "rpc-pauses", "rpc-log", "JFR ");

    private OwnThreads() {}

    /** Returns whether the thread with the given name, or the group of threads with this prefix, is one of them. */
    public static boolean isOne(String name) {
        return NAMES.stream().anyMatch(name::startsWith);
    }
}
