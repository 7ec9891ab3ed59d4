package tern.rpc.spring.autoconfigure.actuate;

/** A report of its own below {@code /actuator/rpc}. Thread-safe. */
public interface RpcEndpointPart {

    /** The last element of its path: {@code advice}. */
    String name();

    /** What to show now, to be written as JSON. */
    Object read();
}
