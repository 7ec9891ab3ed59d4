package tern.rpc.spring.autoconfigure;

import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import tern.rpc.client.UnknownProtocolException;
import tern.rpc.settings.InvalidPropertyException;
import tern.rpc.settings.RpcStartException;
import tern.rpc.spring.RpcReference;

/** Finds the property or the attribute of an annotation that sets the protocol of a reference, for error messages. */
final class ProtocolOrigin {

    private ProtocolOrigin() {}

    /**
     * Returns the startup failure for an unknown protocol; null if neither a property nor the annotation names this
     * protocol.
     *
     * @param configured the settings of the service, with their name in the properties
     * @param general the addresses for references without their own addresses
     */
    static @Nullable RpcStartException explained(
            UnknownProtocolException failure,
            Map.Entry<String, RpcClientProperties.Service> configured,
            RpcReference annotation,
            UnaryOperator<String> placeholders,
            String where,
            List<String> general) {
        String protocol = failure.protocol();
        String origin = null;
        if (names(configured.getValue().url(), protocol)) {
            origin = ClientSettings.PREFIX + configured.getKey() + ".url";
        } else if (names(List.of(placeholders.apply(annotation.url()).split(",")), protocol)) {
            origin = "@RpcReference(url) at " + where;
        } else if (placeholders.apply(annotation.protocol()).equals(protocol)) {
            origin = "@RpcReference(protocol) at " + where;
        } else if (names(general, protocol)) {
            origin = "rpc.client.url";
        }
        return origin == null
                ? null
                : new InvalidPropertyException(
                        origin,
                        origin + ": " + failure.getMessage(),
                        "Write one of the known protocols in " + origin + ".",
                        failure);
    }

    private static boolean names(List<String> addresses, String protocol) {
        return addresses.stream().anyMatch(address -> address.trim().startsWith(protocol + "://"));
    }
}
