package tern.rpc.diagnosis.account;

/**
 * A symptom of a cause: a wait that the cause prolongs.
 *
 * @param waitedFor the kind of the wait, and the name of the resource, lock or result that the calls wait for
 * @param text a description of the wait, such as {@code calls wait for a worker}
 * @param nanos the mean time of this wait in a late or failed call
 */
public record Symptom(Part waitedFor, String text, double nanos) {

    /** Returns the line that describes this symptom in a diagnosis. */
    public String line() {
        return text + ": " + Times.millis(nanos) + " ms";
    }
}
