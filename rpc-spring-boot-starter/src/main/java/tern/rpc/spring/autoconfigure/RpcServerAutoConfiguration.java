package tern.rpc.spring.autoconfigure;

import java.util.List;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigureOrder;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnNotWebApplication;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.DependsOn;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Primary;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;
import org.springframework.security.core.context.SecurityContextHolder;
import tern.rpc.InvalidServiceException;
import tern.rpc.RpcAuthorizer;
import tern.rpc.ServerFilter;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyServerTransport;
import tern.rpc.netty.ServerProtocol;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.serialization.JsonFormat;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.rpc.settings.RpcStartException;
import tern.rpc.spring.RpcServerCustomizer;
import tern.rpc.spring.RpcService;
import tern.rpc.transport.ServerTransport;

/**
 * Creates a server if the application has beans with {@link RpcService}. Also creates a server if the application has
 * customizers, because customizers can export services. A context with services has its own server, even if a parent
 * context has a server, because a server starts only once.
 */
@AutoConfiguration(after = {RpcAutoConfiguration.class, RpcMetricsAutoConfiguration.class})
@AutoConfigureOrder(Ordered.LOWEST_PRECEDENCE)
@Import({HealthConfiguration.class, ReflectionConfiguration.class, ServerInsightConfiguration.class})
@Conditional({RpcServerAutoConfiguration.Enabled.class, RpcServerAutoConfiguration.SomethingToServe.class})
public final class RpcServerAutoConfiguration {

    /** The name of Tern's own customizer. */
    static final String CONTEXT_CLEANER = "rpcSecurityContextCleaner";

    private static final Logger LOG = LoggerFactory.getLogger(RpcServerAutoConfiguration.class);

    @Bean
    @Primary
    @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
    ServerTransportSettings rpcServerTransportSettings(ServerSettings settings) {
        return settings.transport();
    }

    @Bean(destroyMethod = "") // The transport has no destroy method, because the server closes it.
    @Lazy
    @Primary
    @ConditionalOnMissingBean(value = ServerTransport.class, search = SearchStrategy.CURRENT)
    NettyServerTransport rpcServerTransport(
            ServerTransportSettings settings, EventLoops loops, ObjectProvider<ServerProtocol> protocols) {
        return new NettyServerTransport(
                settings, loops, protocols.orderedStream().toList());
    }

    @Bean(ExportedBeans.SERVER)
    @Primary // This server is primary, because a parent context can have a server under another bean name.
    @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
    @DependsOn(RpcAutoConfiguration.FIRST_CALLS)
    RpcServer rpcServer(
            ServerTransport transport,
            ServerSettings settings,
            WorkerThreads threads,
            RpcMeters meters,
            CallObservations observations,
            ConfigurableListableBeanFactory beans,
            ObjectProvider<BuiltInService> builtIns,
            ObjectProvider<JsonFormat> json,
            ObjectProvider<RpcAuthorizer> authorizers,
            ObjectProvider<ServerFilter> filters,
            ObjectProvider<RpcServerCustomizer> customizers) {
        RpcServer.Builder server = RpcServer.builder(transport).meters(meters);
        settings.applyTo(server);
        threads.applyTo(server);
        List<ServiceExport> exports = ExportedBeans.in(beans);
        exports.forEach(server::export);
        authorizers.orderedStream().forEach(server::authorizer);
        observations.serverFilters().forEach(server::filter);
        filters.orderedStream().forEach(server::filter);
        Customizers.run(
                RpcServerCustomizer.class, customizers.orderedStream(), customizer -> customizer.customize(server));
        builtIns.orderedStream().forEach(builtIn -> builtIn.addTo(server));
        settings.limits().applyTo(server);
        boolean authorized = authorizers.stream().findAny().isPresent();
        JsonFormat format = json.getIfAvailable();
        if (format != null && format.getClass().getName().equals(OptionalModules.JSON_CODEC)) {
            FixedJsonSettings.log(beans.getBean(Environment.class));
        }
        if (format != null && settings.mayPagesCall(authorized)) {
            LOG.warn("Pages in browsers of this network can call this server: it listens on all addresses, does not"
                    + " authenticate callers, and answers JSON under any host name. On a developer's machine, set"
                    + " rpc.server.address=localhost; elsewhere, set rpc.server.token or rpc.server.allowed-hosts"
                    + " (docs/security.md, Pages in browsers)");
        }
        compareWithWeb(settings, authorized, beans);
        try {
            return server.build();
        } catch (IllegalArgumentException e) {
            RpcStartException failure = new RpcStartException(
                    "An exported service cannot be served: " + e.getMessage(),
                    "Change the interface or the class as the description says."
                            + (ExportedBeans.haveSeveralInterfaces(beans, exports)
                                    ? " If the interface is no service, name the interfaces to export in"
                                            + " @RpcService(interfaces)."
                                    : ""),
                    e);
            throw e instanceof InvalidServiceException ? ServiceProblems.withAll(beans, failure) : failure;
        }
    }

    /** Logs the kinds of protection that the web server has and the RPC server does not have. */
    private static void compareWithWeb(
            ServerSettings settings, boolean authorized, ConfigurableListableBeanFactory beans) {
        int port = settings.transport().port();
        String place = port == 0 ? "the RPC port" : "the RPC port " + port;
        if (!settings.identifiesCallers(authorized) && WebSecurity.isIn(beans)) {
            LOG.warn(
                    "Spring Security protects only the web port. Calls on {} do not pass its filter chain, and this"
                            + " server does not authenticate callers. Set rpc.server.token, declare an RpcAuthorizer"
                            + " such as AuthenticationAuthorizer, or set rpc.server.ssl.client-auth=need",
                    place);
        }
        if (settings.transport().tls() == null && WebSecurity.hasTls(beans.getBean(Environment.class))) {
            LOG.info(
                    "The properties below server.ssl protect only the web port. Calls on {} are in clear text; for TLS,"
                            + " set rpc.server.ssl.bundle",
                    place);
        }
    }

    @Bean
    WorkerThreads rpcWorkerThreads(Environment environment) {
        return WorkerThreads.of(environment);
    }

    @Bean
    RunningLimits rpcRunningLimits(ObjectProvider<RpcServer> server, ServerSettings settings) {
        return new RunningLimits(server, settings);
    }

    /**
     * Creates the registration. This bean comes before the built-in services, so that a shutdown first removes the
     * server from its registries.
     */
    @Bean
    @Order(-1)
    ServerRegistration rpcServerRegistration(
            RpcServerProperties properties,
            RpcRegistryProperties registry,
            ServerSettings settings,
            Registries registries,
            ObjectProvider<RpcServer> server,
            ObjectProvider<ServerProtocol> protocols,
            RunningLimits limits,
            ApplicationContext context) {
        String application = context.getEnvironment().getProperty("spring.application.name", "");
        return new ServerRegistration(
                RegistrationSettings.of(
                        properties, registry, settings.transport().address(), application),
                registries,
                server,
                () -> protocols.orderedStream().map(ServerProtocol::name).toList(),
                limits,
                context);
    }

    @Bean
    RpcServerLifecycle rpcServerLifecycle(
            RpcServer server,
            ServerSettings settings,
            WorkerThreads threads,
            ObjectProvider<ServerProtocol> protocols,
            ObjectProvider<BuiltInService> builtIns,
            EventLoops loops,
            ObjectProvider<RpcReferences> references,
            ApplicationContext context) {
        String names = protocols.orderedStream().map(ServerProtocol::name).collect(Collectors.joining(" and "));
        String description =
                names + settings.security() + " over " + loops.kind() + ", " + settings.threads() + " " + threads;
        return new RpcServerLifecycle(
                server, settings, builtIns.orderedStream().toList(), description, references, context);
    }

    /** Logs the web server settings, which have no effect in an application without a web server. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnNotWebApplication
    @ConditionalOnMissingClass({
        "org.springframework.web.servlet.DispatcherServlet",
        "org.springframework.web.reactive.DispatcherHandler"
    })
    static class NoWebServerConfiguration {

        @Bean
        SmartInitializingSingleton rpcUnusedWebServerSettings(Environment environment) {
            return () -> UnusedSettings.log(UnusedSettings.ofWebServer(environment));
        }
    }

    /** Makes the authenticated caller available to service methods, in applications that use Spring Security. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(SecurityContextHolder.class)
    static class SecurityConfiguration {

        /**
         * Clears the security context after each call. Otherwise, the next call on the same thread would have the
         * security context of the previous caller.
         */
        @Bean(CONTEXT_CLEANER)
        RpcServerCustomizer rpcSecurityContextCleaner() {
            return server -> server.clearThreads(SecurityContextHolder::clearContext);
        }

        @Bean
        @ConditionalOnBean(RpcAuthorizer.class)
        @Order(Ordered.HIGHEST_PRECEDENCE)
        ServerFilter rpcSecurityContextFilter() {
            return new SecurityContextFilter();
        }
    }

    static final class Enabled extends FlagCondition {

        Enabled() {
            super("rpc.server.enabled", true);
        }
    }

    /**
     * Matches if the application has a service or a customizer, or defines its own server. The services that a
     * customizer exports are known only after the server has been created. If it exports no services,
     * {@link RpcServerLifecycle} does not start the server.
     */
    static final class SomethingToServe extends AnyNestedCondition {

        SomethingToServe() {
            super(ConfigurationPhase.REGISTER_BEAN);
        }

        @ConditionalOnBean(annotation = RpcService.class, search = SearchStrategy.CURRENT)
        static final class Services {}

        @ConditionalOnBean(value = RpcServerCustomizer.class, search = SearchStrategy.CURRENT)
        static final class Customizers {}

        @ConditionalOnBean(value = RpcServer.class, search = SearchStrategy.CURRENT)
        static final class OwnServer {}
    }
}
