package tern.rpc.diagnosis;

/** Watches the process and the machine that it runs on. */
interface ProcessWatch extends PauseTimes {

    /**
     * Returns the figures since the last call. Called by one thread.
     *
     * @param withThreads whether to find the threads that use most
     */
    Machine read(boolean withThreads);

    /** Starts to measure. */
    default void start() {}

    /** Stops everything that {@link #start} began. */
    default void stop() {}
}
