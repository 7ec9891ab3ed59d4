package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.application;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.autoconfigure.AutoConfigurationPackages;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ComponentScan;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.FilterType;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.type.classreading.MetadataReader;
import org.springframework.core.type.classreading.MetadataReaderFactory;
import org.springframework.core.type.filter.TypeFilter;
import tern.rpc.client.RpcClient;
import tern.rpc.server.RpcServer;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;
import tern.rpc.spring.autoconfigure.insight.InsightActuatorAutoConfiguration;
import tern.rpc.spring.autoconfigure.pool.RpcPoolsAutoConfiguration;

/** Tests that an application with server settings but without services logs the reason why it exports nothing. */
@ExtendWith(OutputCaptureExtension.class)
class MissingServicesTest {

    private static final Logger LOG = (Logger) LoggerFactory.getLogger(MissingServices.class);
    private static final String WARNING = "needs a server, but no bean with @RpcService was found";
    private static final String NOTHING =
            "Nothing is served or called: no bean with @RpcService and no bean with @RpcReference was found";

    /** Enables level INFO, because the logging configuration of the tests logs only warnings. */
    @BeforeEach
    void logInfo() {
        LOG.setLevel(Level.INFO);
    }

    @AfterEach
    void logAsBefore() {
        LOG.setLevel(null);
    }

    @Test
    void propertyThatATestClassSetsIsNotNamed(CapturedOutput output) {
        application()
                .withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .addFirst(new MapPropertySource("Inlined Test Properties", Map.of("rpc.server.port", "0"))))
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output).doesNotContain(WARNING);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "rpc.server.port=0",
                "rpc.server.queueCapacity=5",
                "rpc.server.allowed-hosts[0]=orders.internal",
                "rpc.server.ssl.client-auth=none",
            })
    void propertyOfAServerWithoutServicesIsNamedWithItsOrigin(String property, CapturedOutput output) {
        application()
                .withPropertyValues(property)
                .run(there -> assertThat(there).hasNotFailed().doesNotHaveBean(RpcServer.class));

        String written = property.substring(0, property.indexOf('='));
        assertThat(output)
                .containsOnlyOnce(WARNING)
                .contains("(set in \"" + written + "\" from property source \"test\") " + WARNING)
                .contains(
                        "@SpringBootApplication", "@ComponentScan", "@Profile", "neither abstract nor an inner class");
    }

    @Test
    void portIsNamedBeforeOtherProperties(CapturedOutput output) {
        application()
                .withPropertyValues("rpc.server.threads=5", "rpc.server.port=0")
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output).contains("Property rpc.server.port (set in").doesNotContain("Property rpc.server.threads");
    }

    @Test
    void environmentVariableIsNamedAndVariablesOfThePlatformAreNot(CapturedOutput output) {
        application()
                .withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .replace(
                                StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
                                new SystemEnvironmentPropertySource(
                                        StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
                                        Map.of(
                                                "RPC_SERVER_SERVICE_HOST",
                                                "10.0.0.1",
                                                "RPC_SERVER_QUEUE_CAPACITY",
                                                "5"))))
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output)
                .contains("Property rpc.server.queue.capacity (set in")
                .containsOnlyOnce(WARNING);
    }

    @Test
    void abstractClassesAndInnerClassesAreNotFoundByTheScan(CapturedOutput output) {
        application(Scanning.class)
                .withPropertyValues("rpc.server.port=0")
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output).contains(WARNING);
    }

    @Test
    void applicationThatOnlyCallsIsNotWarned(CapturedOutput output) {
        application()
                .withPropertyValues("rpc.client.url=127.0.0.1:1", "rpc.server.io-threads=1")
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output).doesNotContain(WARNING);
    }

    @Test
    void serverThatIsSwitchedOffNeedsNoServices(CapturedOutput output) {
        application()
                .withPropertyValues("rpc.server.port=0", "rpc.server.enabled=false")
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output).doesNotContain(WARNING);
    }

    @Test
    void applicationWithServicesIsNotWarned(CapturedOutput output) {
        application(Greeter.class)
                .withPropertyValues("rpc.server.port=0")
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output).doesNotContain(WARNING);
    }

    @Test
    void applicationThatNeitherServesNorCallsIsNamedWithItsPackages(CapturedOutput output) {
        application()
                .withInitializer(context -> AutoConfigurationPackages.register(
                        (BeanDefinitionRegistry) context.getBeanFactory(), "com.example.shop"))
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output)
                .containsOnlyOnce(NOTHING + ". Spring looks for beans in com.example.shop and the packages below")
                .doesNotContain(WARNING);
    }

    /**
     * The check for missing services also finds the references of beans that are created only after the start, and
     * references that are injected as an {@code ObjectProvider}.
     */
    @ParameterizedTest
    @ValueSource(classes = {LazyUser.class, ProviderUser.class, FactoryMethodUser.class, Greeter.class})
    void applicationWithAServiceOrAReferenceIsNotNamed(Class<?> used, CapturedOutput output) {
        application(used)
                .withPropertyValues("rpc.client.url=127.0.0.1:1")
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output).doesNotContain(NOTHING);
    }

    @Test
    void applicationThatUsesTheClientIsNotNamed(CapturedOutput output) {
        application(ClientUser.class).run(there -> assertThat(there).hasNotFailed());

        assertThat(output).doesNotContain(NOTHING);
    }

    @Test
    void applicationThatOnlyUsesTheInsightStarterIsNotNamed(CapturedOutput output) {
        new ApplicationContextRunner()
                .withConfiguration(
                        AutoConfigurations.of(RpcPoolsAutoConfiguration.class, InsightActuatorAutoConfiguration.class))
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output).doesNotContain(NOTHING);
    }

    @Lazy
    static class LazyUser {
        LazyUser(@RpcReference GreetingService greetings) {}
    }

    static class ProviderUser {
        @RpcReference
        ObjectProvider<GreetingService> greetings;
    }

    @Configuration(proxyBeanMethods = false)
    static class FactoryMethodUser {
        @Bean
        @Lazy
        StringBuilder text(@RpcReference GreetingService greetings) {
            return new StringBuilder(greetings.greet("Ada"));
        }
    }

    static class ClientUser {
        ClientUser(RpcClient client) {}
    }

    @Configuration(proxyBeanMethods = false)
    @ComponentScan(
            useDefaultFilters = false,
            includeFilters = @ComponentScan.Filter(type = FilterType.CUSTOM, classes = OfThisTest.class))
    static class Scanning {}

    static final class OfThisTest implements TypeFilter {
        @Override
        public boolean match(MetadataReader reader, MetadataReaderFactory readers) {
            String name = reader.getClassMetadata().getClassName();
            return name.equals(Unfinished.class.getName()) || name.equals(Inner.class.getName());
        }
    }

    @RpcService
    abstract static class Unfinished implements GreetingService {}

    @RpcService
    @SuppressWarnings("ClassCanBeStatic") // Spring's class path scan ignores inner classes that are not static.
    class Inner implements GreetingService {
        @Override
        public String greet(String name) {
            return name;
        }
    }
}
