package tern.rpc.spring.autoconfigure;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.DependsOn;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Primary;
import org.springframework.core.env.Environment;
import tern.rpc.ClientFilter;
import tern.rpc.client.RpcClient;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyClientTransport;
import tern.rpc.netty.dubbo.DubboProtocol;
import tern.rpc.netty.triple.Http1ClientProtocol;
import tern.rpc.netty.triple.TripleClientProtocol;
import tern.rpc.netty.triple.TripleCodecs;
import tern.rpc.serialization.Serializer;
import tern.rpc.server.RpcServer;
import tern.rpc.spring.RpcClientCustomizer;
import tern.rpc.transport.ClientTransport;

/**
 * Creates the proxies for {@link tern.rpc.spring.RpcReference}. The client is created together with the first proxy.
 * Each context has its own client, even if a parent context has a client, because the address {@code local} refers to
 * the server of the context.
 */
@AutoConfiguration(after = {RpcAutoConfiguration.class, RpcMetricsAutoConfiguration.class})
public final class RpcClientAutoConfiguration {

    @Bean
    static RpcReferenceResolver.Installer rpcReferenceResolver() {
        return new RpcReferenceResolver.Installer();
    }

    @Bean
    static MisplacedReferences rpcMisplacedReferences() {
        return new MisplacedReferences();
    }

    @Bean
    static ConstructorReferences rpcConstructorReferences() {
        return new ConstructorReferences();
    }

    @Bean
    static RecordReferences rpcRecordReferences() {
        return new RecordReferences();
    }

    /** Needs the insight starter, which distinguishes the application's classes from the classes of libraries. */
    @Bean
    @ConditionalOnClass(name = "tern.rpc.pool.ApplicationCode")
    UninjectedReferences rpcUninjectedReferences(ConfigurableListableBeanFactory beans) {
        return new UninjectedReferences(beans);
    }

    @Bean
    RpcReferences rpcReferences(
            RpcClientProperties properties,
            ClientSettings settings,
            ObjectProvider<RpcClient> client,
            Registries registries,
            ConfigurableBeanFactory beans,
            Environment environment) {
        boolean lazily = environment.getProperty("spring.main.lazy-initialization", Boolean.class, false);
        return new RpcReferences(environment, properties, settings, client, registries, beans, lazily);
    }

    @Bean
    @Primary
    @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
    ClientTransportSettings rpcClientTransportSettings(ClientSettings settings) {
        return settings.transport();
    }

    /**
     * The transports, one for each protocol that references can name. The transports are closed together with the
     * client.
     */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnMissingBean(value = ClientTransport.class, search = SearchStrategy.CURRENT)
    static class Transports {

        @Bean(destroyMethod = "")
        @Lazy
        @ConditionalOnClass(name = OptionalModules.HESSIAN_SERIALIZER)
        NettyClientTransport rpcClientTransport(
                ClientTransportSettings settings, EventLoops loops, DubboProtocol protocol) {
            return new NettyClientTransport(settings, loops, protocol);
        }

        @Bean(destroyMethod = "")
        @Lazy
        NettyClientTransport rpcTripleClientTransport(
                ClientTransportSettings settings, EventLoops loops, TripleCodecs codecs) {
            return new NettyClientTransport(settings, loops, new TripleClientProtocol(codecs));
        }

        @Bean(destroyMethod = "")
        @Lazy
        NettyClientTransport rpcHttpClientTransport(
                ClientTransportSettings settings, EventLoops loops, TripleCodecs codecs) {
            return new NettyClientTransport(settings, loops, new Http1ClientProtocol(codecs));
        }
    }

    @Bean
    @Lazy
    @Primary // This client is primary, because a parent context can have a client under another bean name.
    @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
    @DependsOn(RpcAutoConfiguration.FIRST_CALLS)
    RpcClient rpcClient(
            ObjectProvider<ClientTransport> transports,
            ClientSettings settings,
            Serializer serializer,
            ObjectProvider<RpcServer> server,
            RpcMeters meters,
            CallObservations observations,
            ObjectProvider<ClientFilter> filters,
            ObjectProvider<RpcClientCustomizer> customizers) {
        RpcClient.Builder client = RpcClient.builder().meters(meters);
        client.transport(LocalCalls.transport(
                // This transport is registered first. A bean that the application defines for the same protocol then
                // replaces it.
                serializer, settings, server));
        transports.orderedStream().forEach(client::transport);
        settings.applyTo(client);
        observations.clientFilters().forEach(client::filter);
        filters.orderedStream().forEach(client::filter);
        Customizers.run(
                RpcClientCustomizer.class, customizers.orderedStream(), customizer -> customizer.customize(client));
        return client.build();
    }
}
