package tern.rpc.spring.autoconfigure;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.util.ClassUtils;
import tern.rpc.reflection.ReflectionService;
import tern.rpc.server.RpcServer;
import tern.rpc.settings.RpcStartException;

/** Exports the reflection service if the application enables it. This service describes all services to gRPC tools. */
@Configuration(proxyBeanMethods = false)
@Conditional(ReflectionConfiguration.Enabled.class)
class ReflectionConfiguration {

    private static final String PROTOBUF = "com.google.protobuf.Message";

    /** Places the reflection service after all other services, because it lists them. */
    @Bean
    @Order(Ordered.LOWEST_PRECEDENCE)
    BuiltInService rpcBuiltInReflection() {
        OptionalModules.checkProtobuf("rpc.server.reflection=true");
        if (!ClassUtils.isPresent(PROTOBUF, getClass().getClassLoader())) {
            throw new RpcStartException(
                    "rpc.server.reflection is true, but protobuf is not on the class path",
                    "Add com.google.protobuf:protobuf-java, or remove rpc.server.reflection.",
                    null);
        }
        return new Reflection();
    }

    private static final class Reflection implements BuiltInService {

        @Override
        public void addTo(RpcServer.Builder server) {
            ReflectionService.of(server.exports()).forEach(server::export);
        }
    }

    static final class Enabled extends FlagCondition {

        Enabled() {
            super("rpc.server.reflection", false);
        }
    }
}
