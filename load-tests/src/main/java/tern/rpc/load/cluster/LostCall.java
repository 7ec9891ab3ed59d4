package tern.rpc.load.cluster;

/**
 * A failed call. Times are in milliseconds since 1970-01-01 UTC.
 *
 * @param repeatable whether the method is idempotent
 * @param reason the failure's message as one line
 */
record LostCall(long startedMillis, long endedMillis, boolean repeatable, String reason) {

    /** Returns whether the failure message names the provider at the given port of the loopback address. */
    boolean isOf(int port) {
        return reason.matches(".*\\b127\\.0\\.0\\.1:" + port + "\\b.*");
    }
}
