package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.application;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.BeanRegistrar;
import org.springframework.beans.factory.BeanRegistry;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.DependsOn;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.support.SimpleThreadScope;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;
import tern.rpc.server.RpcServer;
import tern.rpc.settings.RpcStartException;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/**
 * Tests that each bean with {@code @RpcService} is exported, or that startup reports the reason why it is not exported.
 */
@ExtendWith(OutputCaptureExtension.class)
class UnservedBeansTest {

    private static final String WARNING = "is an @RpcService, but this application has no RPC server, because ";

    interface Bells {
        String ring();
    }

    @RpcService
    static class Bell implements Bells {
        @Override
        public String ring() {
            return "ding";
        }
    }

    @Test
    void annotationOnTheClassThatABeanMethodHidesIsReported(CapturedOutput output) {
        provider(Hiding.class).run(there -> assertThat(there).hasNotFailed().doesNotHaveBean(RpcServer.class));

        assertThat(output)
                .containsOnlyOnce("Bean 'bells' " + WARNING + "only its class has the annotation, and the @Bean method "
                        + Hiding.class.getName() + ".bells returns " + Bells.class.getName()
                        + ". Put @RpcService on the @Bean method, or let the method return the class.")
                .doesNotContain("no bean with @RpcService was found");
    }

    static class LocalCaller {
        @RpcReference
        Bells bells;
    }

    @Configuration(proxyBeanMethods = false)
    static class HidingWithACaller {
        @Bean
        Bells bells() {
            return new Bell();
        }

        @Bean
        LocalCaller caller() {
            return new LocalCaller();
        }
    }

    @Test
    void referenceToTheOwnServerNamesTheServiceThatABeanMethodHides() {
        application(HidingWithACaller.class)
                .withPropertyValues("rpc.client.url=local", "rpc.server.port=0")
                .run(there -> {
                    RpcStartException failure = StartFailures.causeOf(there.getStartupFailure());

                    assertThat(failure)
                            .hasMessageContaining("refers to local, but this application exports no services: bean"
                                    + " 'bells' is an @RpcService, but it is not exported, because only its class has"
                                    + " the annotation, and the @Bean method " + HidingWithACaller.class.getName());
                    assertThat(failure.action()).contains("Put @RpcService on the @Bean method");
                });
    }

    @Test
    void annotationThatABeanMethodHidesUntilTheServerExistsStopsTheStart() {
        RpcStartException failure = failureOf(HidingBesideAService.class);

        assertThat(failure)
                .hasMessage("Bean 'bells' is an @RpcService, but it is not exported, because only its class has the"
                        + " annotation, and the @Bean method " + HidingBesideAService.class.getName()
                        + ".bells returns " + Bells.class.getName());
        assertThat(failure.action()).contains("Put @RpcService on the @Bean method");
    }

    @Test
    void furtherInterfaceThatABeanMethodHidesUntilTheServerExistsDoesNotStopTheStart() {
        provider(HidingAnInterface.class)
                .run(there -> assertThat(there.getBean(RpcServer.class).exports())
                        .extracting(export -> export.key().interfaceName())
                        .contains(Bells.class.getName())
                        .doesNotContain(Chimes.class.getName()));
    }

    @Test
    void definitionThatIsRegisteredAfterTheAutoConfigurationsIsReported(CapturedOutput output) {
        provider(Late.class).run(there -> assertThat(there).hasNotFailed().doesNotHaveBean(RpcServer.class));

        assertThat(output)
                .containsOnlyOnce("Bean 'late' " + WARNING
                        + "its definition was registered after the auto-configurations had been applied")
                .contains("Register the definition in an ImportBeanDefinitionRegistrar or a BeanRegistrar");
    }

    @Test
    void serverThatIsSwitchedOffServesNothingWithoutAWarning(CapturedOutput output) {
        application(Late.class)
                .withPropertyValues("rpc.server.enabled=false")
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output).doesNotContain(WARNING);
    }

    @ParameterizedTest
    @ValueSource(classes = {ImportedByRegistrar.class, ImportedByBeanRegistrar.class})
    void definitionThatARegistrarRegistersIsExported(Class<?> configuration, CapturedOutput output) {
        provider(configuration)
                .run(there -> assertThat(there.getBean(RpcServer.class).exports())
                        .extracting(export -> export.key().interfaceName())
                        .contains(Bells.class.getName()));

        assertThat(output).doesNotContain(WARNING);
    }

    @Test
    void productOfAFactoryBeanIsExported() {
        provider(BellFactory.class)
                .run(there -> assertThat(there.getBean(RpcServer.class).exports())
                        .extracting(export -> export.key().interfaceName())
                        .contains(Bells.class.getName()));
    }

    @Test
    void productWhoseTypeIsNotKnownStopsTheStart() {
        RpcStartException failure = failureOf(UntypedFactory.class);

        assertThat(failure).hasMessageContaining("is an @RpcService, but its type is not known before it is created");
        assertThat(failure.action()).contains("@RpcService(interfaces)");
    }

    @ParameterizedTest
    @ValueSource(classes = {RequestBell.class, SessionBell.class})
    void scopeOfWebRequestsStopsTheStart(Class<?> service) {
        RpcStartException failure = failureOf(service);

        assertThat(failure)
                .hasMessageContaining("is an @RpcService with the scope ")
                .hasMessageContaining("a call is not a web request");
        assertThat(failure.action()).contains("Remove the scope", "ServerContext.current()");
    }

    @Test
    void scopeOfTheApplicationWithTheNameOfAWebScopeIsServed() {
        provider(RequestBell.class, OwnRequestScope.class)
                .run(there -> assertThat(there.getBean(RpcServer.class).exports())
                        .extracting(export -> export.key().interfaceName())
                        .contains(Bells.class.getName()));
    }

    private static RpcStartException failureOf(Class<?> configuration) {
        RpcStartException[] failure = new RpcStartException[1];
        provider(configuration).run(there -> failure[0] = StartFailures.causeOf(there.getStartupFailure()));
        return failure[0];
    }

    @Configuration(proxyBeanMethods = false)
    static class Hiding {
        @Bean
        Bells bells() {
            return new Bell();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Greeter.class)
    static class HidingBesideAService {
        @Bean
        @DependsOn(ExportedBeans.SERVER)
        Bells bells() {
            return new Bell();
        }
    }

    interface Chimes {
        String chime();
    }

    static class BellWithChimes extends Bell implements Chimes {
        @Override
        public String chime() {
            return "dang";
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class HidingAnInterface {
        @Bean
        @RpcService
        @DependsOn(ExportedBeans.SERVER)
        Bells bells() {
            return new BellWithChimes();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnRequestScope {
        @Bean
        static BeanFactoryPostProcessor requestScope() {
            return beans -> beans.registerScope("request", new SimpleThreadScope());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Late {
        @Bean
        static BeanDefinitionRegistryPostProcessor registrar() {
            return registry -> registry.registerBeanDefinition("late", new RootBeanDefinition(Bell.class));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(BellRegistrar.class)
    static class ImportedByRegistrar {}

    static class BellRegistrar implements ImportBeanDefinitionRegistrar {
        @Override
        public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
            registry.registerBeanDefinition("registered", new RootBeanDefinition(Bell.class));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(BellBeanRegistrar.class)
    static class ImportedByBeanRegistrar {}

    static class BellBeanRegistrar implements BeanRegistrar {
        @Override
        public void register(BeanRegistry registry, Environment environment) {
            registry.registerBean(Bell.class);
        }
    }

    @RpcService
    static class BellFactory implements FactoryBean<Bells> {
        @Override
        public Bells getObject() {
            return () -> "dong";
        }

        @Override
        public Class<?> getObjectType() {
            return Bells.class;
        }
    }

    @RpcService
    static class UntypedFactory implements FactoryBean<Object> {
        @Override
        public Object getObject() {
            return new Bell();
        }

        @Override
        public @Nullable Class<?> getObjectType() {
            return null;
        }
    }

    @RpcService
    @Scope("request")
    static class RequestBell extends Bell {}

    @RpcService
    @Scope(value = "session", proxyMode = ScopedProxyMode.TARGET_CLASS)
    static class SessionBell extends Bell {}
}
