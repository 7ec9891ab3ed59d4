package tern.rpc.spring.autoconfigure;

import io.grpc.BindableService;
import org.springframework.util.ClassUtils;
import tern.rpc.grpc.GrpcServices;
import tern.rpc.server.ServiceExport;

/** Beans that grpc-java's generator made; the only class here that knows gRPC, which need not be there. */
final class GrpcBeans {

    private static final String BINDABLE_SERVICE = "io.grpc.BindableService";

    private GrpcBeans() {}

    /** By name, so that nothing is loaded where there is no gRPC. */
    static boolean isGrpc(Class<?> type) {
        return ClassUtils.getAllInterfacesForClassAsSet(type).stream()
                .anyMatch(implemented -> implemented.getName().equals(BINDABLE_SERVICE));
    }

    static ServiceExport export(Object bean, String group, String version, int weight) {
        return GrpcServices.export(((BindableService) bean).bindService(), group, version, weight);
    }
}
