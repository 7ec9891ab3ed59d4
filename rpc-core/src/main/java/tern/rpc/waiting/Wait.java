package tern.rpc.waiting;

/**
 * What a thread waits for.
 *
 * @param resource as a row of the report is named; threads with the same one are counted together
 * @param change the property that would make the wait shorter, or in a few words what else would
 */
public record Wait(String resource, String change) {

    /** For threads that have nothing to do, or do it for the JVM or a library: they are in no row. */
    public static final Wait IDLE = new Wait("nothing", "nothing");
}
