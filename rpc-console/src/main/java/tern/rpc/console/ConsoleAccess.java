package tern.rpc.console;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.EndpointAccessResolver;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.core.env.Environment;
import tern.rpc.serialization.JsonFormat;
import tern.rpc.server.RpcServer;
import tern.rpc.spring.autoconfigure.ProductionProfiles;
import tern.rpc.spring.autoconfigure.RpcConsoleProperties;

/**
 * Decides whether the console may make calls.
 *
 * @param format supplies the JSON format for the arguments and results, or null if tern-rpc-json or Jackson is missing
 */
record ConsoleAccess(
        EndpointAccessResolver access,
        RpcConsoleProperties properties,
        Environment environment,
        Supplier<@Nullable RpcServer> server,
        Supplier<@Nullable JsonFormat> format) {

    private static final EndpointId ID = EndpointId.of(RpcConsoleEndpoint.ID);

    /** Returns the reason why the console cannot make calls, or an empty string if it can. */
    String whyNot() {
        if (access.accessFor(ID, RpcConsoleEndpoint.DEFAULT_ACCESS) != Access.UNRESTRICTED) {
            return "The console is read-only. Set management.endpoint.rpc-console.access=unrestricted to allow calls.";
        }
        String profile = ProductionProfiles.activeIn(environment);
        if (profile != null && !properties.callInProduction()) {
            return "The profile " + profile + " is active, and rpc.console.call-in-production is not true.";
        }
        if (server.get() == null) {
            return "This application exports no services.";
        }
        if (format.get() == null) {
            return "Calls need JSON. Add tern-rpc-json and Jackson, which the starter contains unless excluded.";
        }
        return "";
    }
}
