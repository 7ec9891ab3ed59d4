package tern.rpc;

import java.time.Duration;

/**
 * How long a call may take, and what says so.
 *
 * @param value above zero
 * @param setBy for messages, the property or the like to change: {@code rpc.client.timeout}
 */
public record TimeLimit(Duration value, String setBy) {

    /** As messages show it: {@code 500 ms (rpc.client.timeout)}. */
    @Override
    public String toString() {
        return value.toMillis() + " ms (" + setBy + ")";
    }
}
