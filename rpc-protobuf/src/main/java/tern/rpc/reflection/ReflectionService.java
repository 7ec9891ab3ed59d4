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
 * The gRPC server reflection service. Tools such as grpcurl use it to list the services and their messages. Reflection
 * is exported only on request, because it lets every caller read the names and types of all services.
 *
 * <p>A service with protobuf messages is described by its own {@code .proto} file. If there is no such file, the
 * service is described by a generated file. A plain Java interface is always described by a generated file. In this
 * file, a method with one parameter takes a {@code google.protobuf.Value}, any other method takes a {@code ListValue},
 * and all methods return a {@code Value}. Triple accepts these messages. Overloaded methods, and names that protobuf
 * does not permit, are omitted.
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
     * Returns the exports of both versions of the reflection service.
     *
     * @param services the services to describe; the reflection services are added
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

    /** Publishes one answer per request. Reads the next request only when the caller is ready for another answer. */
    private static Flow.Publisher<byte[]> answers(Flow.Publisher<byte[]> requests, Reflection reflection) {
        return caller -> requests.subscribe(new ReflectionCall(caller, reflection));
    }
}
