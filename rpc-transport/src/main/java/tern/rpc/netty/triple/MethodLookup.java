package tern.rpc.netty.triple;

import java.util.ArrayList;
import java.util.List;
import tern.rpc.MethodDescriptor;
import tern.rpc.RpcException;
import tern.rpc.ServiceDescriptor;
import tern.rpc.transport.BuiltInMethods;
import tern.rpc.transport.MissingMethods;
import tern.rpc.transport.ServiceLookup;

/** Finds the methods that match a name in a path (docs/wire-protocol.md 3.5). */
final class MethodLookup {

    private MethodLookup() {}

    /**
     * Returns all methods of the service with this name. If the service has none, returns the built-in methods with
     * this name. If no method is found, the search is repeated with the first letter of the name in lower case.
     *
     * @return at least one method
     * @throws RpcException UNIMPLEMENTED if no method is found; a disabled built-in method is treated as missing
     */
    static List<MethodDescriptor> find(ServiceLookup services, ServiceDescriptor service, String name) {
        List<MethodDescriptor> found = service.overloads(name);
        if (found.isEmpty() && name.startsWith("$")) {
            found = builtIn(services, name);
        }
        if (found.isEmpty() && !name.isEmpty()) {
            found = service.overloads(Character.toLowerCase(name.charAt(0)) + name.substring(1));
        }
        if (found.isEmpty()) {
            throw MissingMethods.refusal(service, name);
        }
        return found;
    }

    private static List<MethodDescriptor> builtIn(ServiceLookup services, String name) {
        List<MethodDescriptor> found = new ArrayList<>();
        for (MethodDescriptor known : BuiltInMethods.DESCRIPTOR.overloads(name)) {
            MethodDescriptor method = services.builtIn(name, known.descriptor());
            if (method != null) {
                found.add(method);
            }
        }
        return found;
    }
}
