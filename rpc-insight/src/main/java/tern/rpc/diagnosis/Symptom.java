package tern.rpc.diagnosis;

/**
 * A wait that is prolonged by a cause.
 *
 * @param waitedFor the part for which the calls wait
 * @param text the wait as text, such as {@code calls wait for a worker}
 * @param nanos the mean time of this wait in a bad call
 */
record Symptom(Part waitedFor, String text, double nanos) {

    /** Returns the line that describes this symptom in a diagnosis. */
    String line() {
        return text + ": " + Times.millis(nanos) + " ms";
    }
}
