package tern.rpc.diagnosis;

import java.util.List;
import java.util.Map;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.failure.TimeLimit;
import tern.rpc.pool.LoggingMode;
import tern.rpc.pool.PoolSource;

/** The parts of the application that the diagnosis can observe. */
public interface Surroundings {

    /** Returns the calls that are currently running. */
    List<RunningCall> running();

    /** Returns the number of calls refused since the start of the process, by reason. */
    Map<String, Long> refused();

    /** Returns all pools of the application. */
    List<PoolSource> pools();

    /**
     * Returns the time when each data source and each Redis server last answered, by name. Omits the data source if the
     * application has only one, and the Redis server if the application has only one.
     */
    default Map<String, Long> answers() {
        return Map.of();
    }

    /**
     * Returns the server of each data source and each Redis server, by name. Two data sources may use the same server.
     * Data sources and Redis servers with an unknown server are omitted.
     */
    default Map<String, String> servers() {
        return Map.of();
    }

    /** Returns the time limits for operations, such as HTTP exchanges, that are set by properties. */
    default List<TimeLimit> timeLimits() {
        return List.of();
    }

    /** Returns the logging mode, which says whether calling threads write log lines themselves, and why. */
    default LoggingMode logging() {
        return LoggingMode.ASYNCHRONOUS;
    }
}
