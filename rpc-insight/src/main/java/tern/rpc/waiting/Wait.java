package tern.rpc.waiting;

/**
 * The wait of a thread.
 *
 * @param resource the name of the report's row; threads with the same resource are counted together
 * @param change the property that would shorten the wait, or a short text about another remedy
 */
public record Wait(String resource, String change) {

    /** For idle threads, and for threads that work for the JVM or a library. They appear in no row. */
    public static final Wait IDLE = new Wait("nothing", "nothing");
}
