package tern.rpc.diagnosis;

import java.util.List;
import java.util.Map;
import tern.rpc.RunningCall;

/** A source of calls: a server, or the web requests of an application. Thread-safe. */
@FunctionalInterface
public interface CallSource {

    /** Returns the calls that are running now. */
    List<RunningCall> runningCalls();

    /** Returns the number of calls that were refused before they ran, since the start of the process, by reason. */
    default Map<String, Long> refusals() {
        return Map.of();
    }
}
