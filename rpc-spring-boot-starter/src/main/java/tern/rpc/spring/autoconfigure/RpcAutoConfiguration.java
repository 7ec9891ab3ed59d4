package tern.rpc.spring.autoconfigure;

import java.util.List;
import java.util.stream.Stream;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyServerTransport;
import tern.rpc.netty.dubbo.DubboProtocol;
import tern.rpc.netty.triple.Http1Protocol;
import tern.rpc.netty.triple.HttpSettings;
import tern.rpc.netty.triple.TripleCodecs;
import tern.rpc.netty.triple.TripleProtocol;
import tern.rpc.serialization.JsonFormat;
import tern.rpc.serialization.NoSerializer;
import tern.rpc.serialization.Serializer;
import tern.rpc.spring.RpcConnectionDetails;

/** Defines the beans shared by client and server: validated settings, event loops, protocol and serialization. */
@AutoConfiguration
@EnableConfigurationProperties({
    RpcServerProperties.class,
    RpcClientProperties.class,
    RpcLimitsProperties.class,
    RpcSloProperties.class,
    RpcConsoleProperties.class
})
@Import({JsonConfiguration.class, RegistryConfiguration.class})
@ImportRuntimeHints(TokenHints.class)
public final class RpcAutoConfiguration {

    static final String FIRST_CALLS = "rpcFirstCalls";

    @Bean
    static UnknownPropertyCheck rpcUnknownPropertyCheck(Environment environment) {
        return new UnknownPropertyCheck(environment);
    }

    @Bean
    static MisplacedAnnotations rpcMisplacedAnnotations() {
        return new MisplacedAnnotations();
    }

    @Bean
    SmartInitializingSingleton rpcUnusedSettings(
            Environment environment,
            RpcServerProperties server,
            RpcClientProperties client,
            RpcLimitsProperties limits,
            ConfigurableListableBeanFactory beans) {
        return () -> UnusedSettings.log(Stream.of(
                        UnusedSettings.find(environment, server, client, limits),
                        UnusedAttributes.ofServices(beans, server))
                .flatMap(List::stream)
                .toList());
    }

    @Bean
    SmartInitializingSingleton rpcContradictingSettings(
            Environment environment,
            RpcServerProperties server,
            RpcClientProperties client,
            RpcLimitsProperties limits,
            RpcSloProperties slo) {
        return () -> ContradictingSettings.log(ContradictingSettings.find(environment, server, client, limits, slo));
    }

    @Bean
    MissingServices rpcMissingServices(Environment environment, ConfigurableListableBeanFactory beans) {
        return new MissingServices(environment, beans);
    }

    @Bean
    DubboAnnotations rpcDubboAnnotations(ConfigurableListableBeanFactory beans) {
        return new DubboAnnotations(beans);
    }

    @Bean
    UnusedGrpcBeans rpcUnusedGrpcBeans(ConfigurableListableBeanFactory beans) {
        return new UnusedGrpcBeans(beans);
    }

    @Bean
    UnusedFilters rpcUnusedFilters(ConfigurableListableBeanFactory beans) {
        return new UnusedFilters(beans);
    }

    @Bean
    EnvironmentChanges rpcEnvironmentChanges(
            ObjectProvider<RpcReferences> references, ObjectProvider<RunningLimits> limits, Environment environment) {
        return new EnvironmentChanges(references, limits, environment);
    }

    @Bean
    TlsBundles rpcTlsBundles(ObjectProvider<SslBundles> bundles) {
        return new TlsBundles(bundles);
    }

    @Bean
    ServerSettings rpcServerSettings(RpcServerProperties server, RpcLimitsProperties limits, TlsBundles bundles) {
        return ServerSettings.of(server, limits, bundles);
    }

    @Bean
    ClientSettings rpcClientSettings(
            RpcClientProperties client,
            RpcLimitsProperties limits,
            TlsBundles bundles,
            Environment environment,
            ObjectProvider<RpcConnectionDetails> details) {
        return ClientSettings.of(
                client,
                limits,
                bundles,
                environment.getProperty("spring.application.name", ""),
                details::orderedStream);
    }

    @Bean
    @Lazy
    @ConditionalOnMissingBean
    EventLoops rpcEventLoops(ServerSettings settings) {
        NettyVersion.check(EventLoops.class.getClassLoader());
        return EventLoops.start(settings.ioThreads());
    }

    @Bean
    @Lazy
    @ConditionalOnMissingBean(Serializer.class)
    Serializer rpcSerializer(RpcLimitsProperties limits, RpcServerProperties server) {
        return OptionalModules.hasHessian()
                ? HessianSettings.serializer(limits, server.exceptionTexts())
                : new NoSerializer();
    }

    @Bean(FIRST_CALLS)
    @Lazy
    FirstCalls rpcFirstCalls(Serializer serializer, ObjectProvider<EventLoops> loops, ListableBeanFactory beans) {
        if (!OptionalModules.hasHessian()) {
            return FirstCalls.none();
        }
        boolean listens = beans.getBeanNamesForType(NettyServerTransport.class, true, false).length > 0;
        return listens
                ? FirstCalls.overLoopback(serializer, loops.getObject())
                // Without a server, the application must not open a port, so the warm-up calls run in memory.
                : FirstCalls.inMemory(serializer);
    }

    @Bean
    @Lazy
    @ConditionalOnMissingBean
    TripleCodecs rpcTripleCodecs(Serializer serializer, ObjectProvider<JsonFormat> json, ServerSettings settings) {
        return new TripleCodecs(
                serializer, json.getIfAvailable(), settings.exceptionFrames(), settings.unpackedRatio());
    }

    @Bean
    @Lazy
    @ConditionalOnMissingBean
    HttpSettings rpcHttpSettings(ServerSettings settings) {
        return settings.http();
    }

    @Bean
    @Lazy
    @ConditionalOnMissingBean
    TripleProtocol rpcTripleProtocol(TripleCodecs codecs, HttpSettings http) {
        return new TripleProtocol(codecs, http);
    }

    @Bean
    @Lazy
    @ConditionalOnMissingBean
    Http1Protocol rpcHttp1Protocol(TripleCodecs codecs, HttpSettings http) {
        return new Http1Protocol(codecs, http);
    }

    /** The {@code dubbo} protocol, which can send ordinary Java objects, but no protobuf messages. */
    @Bean
    @Lazy
    @ConditionalOnMissingBean
    @ConditionalOnClass(name = OptionalModules.HESSIAN_SERIALIZER)
    DubboProtocol rpcDubboProtocol(Serializer serializer, ServerSettings settings) {
        return new DubboProtocol(serializer, settings.exceptionFrames());
    }
}
