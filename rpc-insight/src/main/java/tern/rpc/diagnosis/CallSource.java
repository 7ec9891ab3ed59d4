package tern.rpc.diagnosis;

import java.util.List;
import java.util.Map;
import tern.rpc.RunningCall;

/** A source of calls: a server, or an application's web requests. Thread-safe. */
@FunctionalInterface
public interface CallSource {

    /** Returns the calls that are currently running. */
    List<RunningCall> runningCalls();

    /** Returns the number of calls refused before they ran, by reason, since the start of the process. */
    default Map<String, Long> refusals() {
        return Map.of();
    }
}
