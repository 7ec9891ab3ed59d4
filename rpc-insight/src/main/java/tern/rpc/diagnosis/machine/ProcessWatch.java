package tern.rpc.diagnosis.machine;

import java.nio.file.Path;
import java.util.List;
import tern.rpc.diagnosis.account.PauseTimes;
import tern.rpc.evidence.ThreadIds;

/** Watches the process and the machine on which it runs. */
public interface ProcessWatch extends PauseTimes {

    /**
     * Returns the values measured since the previous call to this method. Only one thread calls this method.
     *
     * @param withThreads whether to find the threads that use the most processor time or memory
     */
    Machine read(boolean withThreads);

    /** Returns the register in which each thread that serves a call enters its native id. */
    default ThreadIds threads() {
        return new ThreadIds(Path.of("/"));
    }

    /** Returns the object that runs the flight recorder in this process. */
    default FlightRecording recording() {
        return new FlightRecording();
    }

    /**
     * Returns the garbage collector's share of the time while the heap is exhausted, and 0 otherwise. Reads only
     * counters. Only one thread calls this method.
     */
    default double exhausted(long now) {
        return 0;
    }

    /** Returns the pauses of the whole process that ended between the two given times. */
    default List<HiccupMeter.Stop> pauses(long fromNanos, long toNanos) {
        return List.of();
    }

    /**
     * Returns a phrase about the CPU quota that has stopped this process most since the last call to {@link #read};
     * empty if no quota has stopped the process. Any thread may call this method.
     */
    default String stoppingQuota() {
        return "";
    }

    /** Returns what the open files and sockets of this process refer to. Only one thread calls this method. */
    default OpenFileUse openFiles() {
        return OpenFileUse.UNKNOWN;
    }

    /** Starts a search for the code that calls {@code System.gc()}. The search uses the JVM's flight recorder. */
    default void searchExplicitCollections() {}

    /**
     * Starts a search for the code that allocates memory, and for the code whose objects stay in the heap. The search
     * uses the JVM's flight recorder. {@link #allocatedObjects} and {@link #keptObjects} return the results.
     */
    default void searchObjects() {}

    /** Returns the number of bytes that the current thread has allocated; -1 if unknown. Any thread may call this. */
    default long allocatedBytes() {
        return -1;
    }

    /** Starts the measurements. */
    default void start() {}

    /** Stops all measurements that {@link #start} began. */
    default void stop() {}
}
