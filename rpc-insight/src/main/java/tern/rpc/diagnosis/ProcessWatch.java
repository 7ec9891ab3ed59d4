package tern.rpc.diagnosis;

/** Watches the process and the machine on which it runs. */
interface ProcessWatch extends PauseTimes {

    /**
     * Returns the values measured since the last call. Only one thread calls this.
     *
     * @param withThreads whether to find the threads that use the most processor time or memory
     */
    Machine read(boolean withThreads);

    /** Starts to measure. */
    default void start() {}

    /** Stops everything that {@link #start} began. */
    default void stop() {}
}
