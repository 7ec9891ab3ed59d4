package tern.rpc.spring.autoconfigure.actuate;

/** A part of the endpoint, shown under {@code /actuator/rpc/} and its name. Beans of this type are found. */
public interface RpcReportPart {

    /** The last element of the path: {@code waiting}. */
    String name();

    /** As of now; made into JSON. */
    Object report();
}
