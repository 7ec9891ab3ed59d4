package tern.rpc;

import java.time.Duration;

/**
 * The time limit of a call and where it was set.
 *
 * @param value a positive duration
 * @param setBy the property or other place where the limit can be changed, for error messages:
 *     {@code rpc.client.timeout}
 */
public record TimeLimit(Duration value, String setBy) {

    /** Returns the limit in the form used in error messages: {@code 500 ms (rpc.client.timeout)}. */
    @Override
    public String toString() {
        return value.toMillis() + " ms (" + setBy + ")";
    }
}
