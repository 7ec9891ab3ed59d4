package tern.rpc.diagnosis;

/**
 * A wait that a cause makes longer.
 *
 * @param waitedFor the part of the calls that wait
 * @param text the wait as text, such as {@code calls wait for a worker}
 * @param nanos the mean time of this wait in a bad call
 */
record Symptom(Part waitedFor, String text, double nanos) {

    /** Returns the line that describes this symptom in a diagnosis. */
    String line() {
        return text + ": " + Times.millis(nanos) + " ms";
    }
}
