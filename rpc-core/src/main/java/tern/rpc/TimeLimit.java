package tern.rpc;

import java.time.Duration;

/**
 * The time limit of a call and its origin.
 *
 * @param value above zero
 * @param setBy the property or other origin to change, for messages: {@code rpc.client.timeout}
 */
public record TimeLimit(Duration value, String setBy) {

    /** The notation in messages: {@code 500 ms (rpc.client.timeout)}. */
    @Override
    public String toString() {
        return value.toMillis() + " ms (" + setBy + ")";
    }
}
