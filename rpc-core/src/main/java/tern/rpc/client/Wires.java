package tern.rpc.client;

import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.cluster.ClusterParts;
import tern.rpc.cluster.Nodes;
import tern.rpc.transport.ClientTransport;
import tern.rpc.transport.Tls;

/** A client's transports by protocol. Thread-safe. */
final class Wires {

    private final Map<String, Wire> wires = new LinkedHashMap<>();

    /** @param transports the transports; if several have the same protocol, only the last one is used */
    Wires(List<ClientTransport> transports) {
        transports.forEach(transport ->
                wires.put(transport.protocol(), new Wire(transport, Collections.synchronizedMap(new HashMap<>()))));
    }

    /**
     * The transport for one protocol, with the connections that its references share. Only references with the same
     * supplier of TLS settings share connections.
     */
    record Wire(ClientTransport transport, Map<@Nullable Supplier<Tls>, Nodes> shared) {

        /** Returns the nodes that the reference connects to. */
        Nodes nodes(ServiceReference<?> reference, ClusterParts parts) {
            return reference.connections() > 0
                    ? nodes(reference.connections(), reference.tls(), parts)
                    : shared.computeIfAbsent(reference.tls(), tls -> nodes(1, tls, parts));
        }

        private Nodes nodes(int connections, @Nullable Supplier<Tls> tls, ClusterParts parts) {
            return parts.nodes(endpoint -> transport.connect(endpoint, connections, tls));
        }
    }

    /** @throws UnknownProtocolException if there is no transport for the reference's protocol */
    Wire of(ServiceReference<?> reference) {
        Wire wire = wires.get(reference.protocol());
        if (wire == null) {
            throw new UnknownProtocolException(reference.protocol(), reference.key(), wires.keySet());
        }
        return wire;
    }

    void close() {
        wires.values().forEach(wire -> wire.transport().close());
    }
}
