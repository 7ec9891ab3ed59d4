package tern.rpc.spring.autoconfigure;

import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;

/**
 * Warns about grpc-java beans that have no effect: server interceptors, and services without {@code @RpcService}. Logs
 * no warning if another gRPC server is on the class path, because that server might use the beans.
 */
final class UnusedGrpcBeans implements SmartInitializingSingleton {

    private static final Logger LOG = LoggerFactory.getLogger(UnusedGrpcBeans.class);

    /** One class from each Spring integration that starts a grpc-java server. */
    private static final List<String> OTHER_SERVERS = List.of(
            "org.springframework.grpc.server.GrpcServerFactory", "net.devh.boot.grpc.server.service.GrpcService");

    private final ConfigurableListableBeanFactory beans;

    UnusedGrpcBeans(ConfigurableListableBeanFactory beans) {
        this.beans = beans;
    }

    @Override
    public void afterSingletonsInstantiated() {
        ClassLoader loader = beans.getBeanClassLoader();
        if (OTHER_SERVERS.stream().anyMatch(name -> ClassUtils.isPresent(name, loader))) {
            return;
        }
        List<String> interceptors = names("io.grpc.ServerInterceptor", name -> true);
        if (!interceptors.isEmpty()) {
            LOG.warn(
                    "Tern does not call beans of type io.grpc.ServerInterceptor: {}. Write a tern.rpc.ServerFilter or,"
                            + " to refuse callers, a tern.rpc.RpcAuthorizer instead",
                    String.join(", ", interceptors));
        }
        List<String> services = names("io.grpc.BindableService", name -> ExportedBeans.annotation(beans, name) == null);
        if (!services.isEmpty()) {
            LOG.warn(
                    "gRPC services without @RpcService are not exported: {}. Put @RpcService on the class or the @Bean"
                            + " method of each bean",
                    String.join(", ", services));
        }
    }

    /** Returns the names of all unused beans with the given type. Creates no bean. */
    private List<String> names(String type, Predicate<String> isUnused) {
        ClassLoader loader = beans.getBeanClassLoader();
        return ClassUtils.isPresent(type, loader)
                ? Stream.of(beans.getBeanNamesForType(ClassUtils.resolveClassName(type, loader), true, false))
                        .filter(isUnused)
                        .toList()
                : List.of();
    }
}
