package tern.rpc.spring.autoconfigure;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;
import tern.rpc.registry.FileRegistry;
import tern.rpc.registry.Registry;
import tern.rpc.registry.dubbo.metadata.MetadataClient;
import tern.rpc.registry.zookeeper.ZooKeeperRegistry;
import tern.rpc.transport.ClientTransport;

/**
 * Defines the beans for registries. A registry is opened only if the application's properties or annotations name it.
 */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(RpcRegistryProperties.class)
class RegistryConfiguration {

    @Bean
    Registries rpcRegistries(ObjectProvider<Registry.Factory> factories) {
        return new Registries(factories);
    }

    @Bean
    @Lazy
    Registry.Factory rpcFileRegistries() {
        return new FileRegistry.Factory();
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(ZooKeeperRegistry.class)
    static class ZooKeeper {

        @Bean
        @Lazy
        Registry.Factory rpcZooKeeperRegistries(
                RpcRegistryProperties properties,
                Environment environment,
                ObjectProvider<ClientTransport> transports,
                TlsBundles bundles) {
            return new ZooKeeperRegistry.Factory(
                    new ZooKeeperRegistry.Form(
                            properties.level(),
                            properties.nodePerProtocol(),
                            properties.metadataType() == RpcRegistryProperties.MetadataType.REMOTE),
                    environment.getProperty("spring.application.name", ""),
                    new MetadataClient(() -> transports.orderedStream().toList()),
                    bundle -> bundles.ofClient("ssl.bundle in the address of the registry", bundle));
        }

        /** Creates the metadata service before the reflection service, because the reflection service lists it. */
        @Bean
        @Order(0)
        BuiltInService rpcBuiltInMetadata(ObjectProvider<ServerRegistration> registration) {
            return new PublishedMetadata(registration);
        }
    }
}
