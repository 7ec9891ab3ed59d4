package tern.rpc.load.peer;

/**
 * The resources that a process has used.
 *
 * @param cpuNanos the CPU time of all threads
 * @param bytes the heap bytes that all threads, including ended threads, have allocated
 * @param writes the number of write system calls, which flush sockets and wake selectors; {@link #UNKNOWN}
 *     if the operating system does not report them
 * @param switches the number of voluntary and involuntary context switches of all threads; {@link #UNKNOWN} if the
 *     operating system does not report them
 */
record ProcessCost(long cpuNanos, long bytes, long writes, long switches) {

    static final long UNKNOWN = -1;

    static final ProcessCost NONE = new ProcessCost(0, 0, 0, 0);

    ProcessCost since(ProcessCost earlier) {
        return new ProcessCost(
                cpuNanos - earlier.cpuNanos,
                bytes - earlier.bytes,
                both(writes, earlier.writes) ? writes - earlier.writes : UNKNOWN,
                both(switches, earlier.switches) ? switches - earlier.switches : UNKNOWN);
    }

    ProcessCost plus(ProcessCost other) {
        return new ProcessCost(
                cpuNanos + other.cpuNanos,
                bytes + other.bytes,
                both(writes, other.writes) ? writes + other.writes : UNKNOWN,
                both(switches, other.switches) ? switches + other.switches : UNKNOWN);
    }

    private static boolean both(long one, long other) {
        return one != UNKNOWN && other != UNKNOWN;
    }

    /**
     * Parses the values that {@link #words} formatted.
     *
     * @param first the index of the first value in {@code words}
     */
    static ProcessCost of(String[] words, int first) {
        return new ProcessCost(
                Long.parseLong(words[first]),
                Long.parseLong(words[first + 1]),
                Long.parseLong(words[first + 2]),
                Long.parseLong(words[first + 3]));
    }

    String words() {
        return cpuNanos + " " + bytes + " " + writes + " " + switches;
    }
}
