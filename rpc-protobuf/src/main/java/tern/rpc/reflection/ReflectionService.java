package tern.rpc.reflection;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Flow;
import tern.rpc.MethodType;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceDescriptor.Operation;
import tern.rpc.ServiceKey;
import tern.rpc.endpoint.Attributes;
import tern.rpc.server.ServiceExport;

/**
 * Server reflection: tools such as grpcurl list the services and their messages. Every caller can read the names and
 * types of all services, so reflection is exported only on request.
 *
 * <p>A service with protobuf messages is described by its own file, or by a generated one. A plain Java interface is
 * described by a generated file. There a method takes a {@code google.protobuf.Value} for its only parameter, or a
 * {@code ListValue} for none or several, and returns a {@code Value}; Triple serves both. Overloaded methods, and names
 * that protobuf does not permit, are omitted.
 */
public final class ReflectionService {

    private static final ServiceDescriptor V1 = descriptor("v1");
    private static final ServiceDescriptor V1_ALPHA = descriptor("v1alpha");

    private ReflectionService() {}

    private static ServiceDescriptor descriptor(String version) {
        return ServiceDescriptor.of(
                BuiltInFiles.reflectionService(version),
                List.of(new Operation("ServerReflectionInfo", MethodType.BIDI_STREAMING, byte[].class, byte[].class)));
    }

    /**
     * The exports of both versions of the reflection service.
     *
     * @param services the services to describe; reflection itself is added
     */
    public static List<ServiceExport> of(Collection<ServiceExport> services) {
        Set<String> names = new TreeSet<>(List.of(V1.name(), V1_ALPHA.name()));
        List<ServiceDescriptor> described = new ArrayList<>(List.of(V1, V1_ALPHA));
        for (ServiceExport export : services) {
            if (names.add(export.service().name())) {
                described.add(export.service());
            }
        }
        Reflection reflection = new Reflection(names, ServiceFiles.of(described));
        return List.of(export(V1, reflection), export(V1_ALPHA, reflection));
    }

    @SuppressWarnings("unchecked")
    private static ServiceExport export(ServiceDescriptor service, Reflection reflection) {
        return new ServiceExport(
                service,
                new ServiceKey(service.name(), "", ""),
                method -> arguments -> answers((Flow.Publisher<byte[]>) arguments[0], reflection),
                Attributes.DEFAULT_WEIGHT);
    }

    /** Publishes one answer for each request. The next request is read when an answer is requested. */
    private static Flow.Publisher<byte[]> answers(Flow.Publisher<byte[]> requests, Reflection reflection) {
        return caller -> requests.subscribe(new Conversation(caller, reflection));
    }
}
