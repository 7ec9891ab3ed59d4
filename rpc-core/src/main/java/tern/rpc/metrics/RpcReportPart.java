package tern.rpc.metrics;

/** A part of the endpoint, shown under {@code /actuator/rpc/} and its name. Every bean of this type is shown. */
public interface RpcReportPart {

    /** The last element of the path: {@code waiting}. */
    String name();

    /** The present report, which becomes JSON. */
    Object report();
}
