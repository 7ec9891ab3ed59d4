package tern.rpc.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.Mockito.when;

import jakarta.validation.constraints.NotBlank;
import java.util.Map;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.MapPropertySource;
import org.springframework.stereotype.Component;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.test.context.TestPropertySource;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.validation.annotation.Validated;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.client.RpcClient;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;
import tools.jackson.databind.json.JsonMapper;

/** Tests which beans a test slice contains. Also tests a scripted provider in an application. */
@Timeout(120)
class RpcTestTest {

    @Nested
    @RpcTest({Clerk.class, Visitor.class})
    class WithBothSides {

        @Test
        void providerAndConsumerCallEachOther(@Autowired Visitor visitor, @Autowired ApplicationContext context) {
            assertThat(visitor.enter()).isEqualTo("Good day, Ada");
            assertThat(context.getBeanNamesForType(RpcClient.class)).hasSize(1);
            assertThat(context.getBeanDefinitionNames()).noneMatch(name -> name.contains("DataSource"));
        }
    }

    @Nested
    @RpcTest({ValidatingClerk.class, Visitor.class})
    @TestPropertySource(
            properties = {
                "spring.jackson.property-naming-strategy=SNAKE_CASE",
                "spring.ssl.bundle.pem.shop.truststore.type=PKCS12"
            })
    class WithSpringBootsOwnSettings {

        @Test
        void argumentsAreValidated(@Autowired Visitor visitor) {
            assertThat(visitor.desk.greet("Ada")).isEqualTo("Good day, Ada");
            assertThatThrownBy(() -> visitor.desk.greet(""))
                    .isInstanceOfSatisfying(
                            RpcException.class,
                            failure -> assertThat(failure.code()).isEqualTo(StatusCode.INVALID_ARGUMENT));
        }

        @Test
        void settingsOfJacksonAreUsed(@Autowired JsonMapper mapper) {
            assertThat(mapper.writeValueAsString(new Greeted("Ada"))).isEqualTo("{\"first_name\":\"Ada\"}");
        }

        @Test
        void bundlesAreKnown(@Autowired SslBundles bundles) {
            assertThat(bundles.getBundleNames()).containsExactly("shop");
        }
    }

    record Greeted(String firstName) {}

    @RpcService
    @Validated
    static class ValidatingClerk implements Desk {
        @Override
        public String greet(String name) {
            return "Good day, " + name;
        }
    }

    @Nested
    @RpcTest(Visitor.class)
    class WithAMock {

        @MockitoBean
        Desk desk;

        @Test
        void mockReplacesTheProvider(@Autowired Visitor visitor) {
            when(desk.greet("Ada")).thenReturn("mocked");

            assertThat(visitor.enter()).isEqualTo("mocked");
        }
    }

    @Nested
    @RpcTest(Visitor.class)
    class WithAScriptedProvider {

        @RegisterExtension
        static final ScriptedProvider provider = ScriptedProvider.of(Desk.class);

        @DynamicPropertySource
        static void address(DynamicPropertyRegistry properties) {
            properties.add("rpc.client.url", provider::address);
        }

        @Test
        void callsAreMadeOverASocket(@Autowired Visitor visitor) {
            provider.on("greet").answer("scripted");

            assertThat(visitor.enter()).isEqualTo("scripted");
            provider.assertCalled("greet", 1);
        }
    }

    @Nested
    @RpcTest({Clerk.class, Visitor.class, AddressedVisitor.class})
    @ContextConfiguration(initializers = SettingsOfTheApplication.class)
    class WithAddressesOfTheApplication {

        @Test
        void allReferencesCallTheServerOfTheTest(
                @Autowired Visitor visitor, @Autowired AddressedVisitor addressedVisitor) {
            assertThat(visitor.enter()).isEqualTo("Good day, Ada");
            assertThat(addressedVisitor.desk.greet("Eve")).isEqualTo("Good day, Eve");
        }

        /** With a registry, the application would not start, because the registry's module is not on the class path. */
        @Test
        void applicationUsesNoRegistry(@Autowired ApplicationContext context) {
            assertThat(context.getEnvironment().getProperty("rpc.server.registry"))
                    .isEmpty();
            assertThat(context.getEnvironment().getProperty("rpc.client.registry"))
                    .isEmpty();
        }
    }

    @Nested
    @RpcTest({Visitor.class, AddressedVisitor.class})
    @ContextConfiguration(initializers = SettingsOfTheApplication.class)
    class WithAScriptedProviderAndAddressesOfTheApplication {

        @RegisterExtension
        static final ScriptedProvider provider = ScriptedProvider.of(Desk.class);

        @DynamicPropertySource
        static void address(DynamicPropertyRegistry properties) {
            properties.add("rpc.client.url", provider::address);
        }

        @Test
        void allReferencesCallTheProvider(@Autowired Visitor visitor, @Autowired AddressedVisitor addressedVisitor) {
            provider.on("greet").answer("first").answer("second");

            assertThat(visitor.enter()).isEqualTo("first");
            assertThat(addressedVisitor.desk.greet("Eve")).isEqualTo("second");
        }
    }

    @Nested
    @RpcTest({Clerk.class, Visitor.class})
    @ContextConfiguration(initializers = SettingsOfTheApplication.class)
    class WithAnAddressOfTheTest {

        @RegisterExtension
        static final ScriptedProvider provider = ScriptedProvider.of(Desk.class);

        @DynamicPropertySource
        static void address(DynamicPropertyRegistry properties) {
            properties.add("rpc.client.services.desk.url", provider::address);
        }

        @Test
        void referenceCallsTheScriptedProvider(@Autowired Visitor visitor) {
            provider.on("greet").answer("scripted");

            assertThat(visitor.enter()).isEqualTo("scripted");
        }
    }

    @Nested
    @SpringBootTest(
            classes = {Application.class, Clerk.class, Visitor.class, AddressedVisitor.class},
            webEnvironment = WebEnvironment.NONE,
            properties = {"rpc.client.url=local", "rpc.client.registry=", "rpc.server.port=0", "rpc.server.registry="})
    @ImportAutoConfiguration(RpcTestAddresses.class)
    @ContextConfiguration(initializers = SettingsOfTheApplication.class)
    class OfTheWholeApplication {

        @Test
        void allReferencesCallTheServerOfTheTest(
                @Autowired Visitor visitor, @Autowired AddressedVisitor addressedVisitor) {
            assertThat(visitor.enter()).isEqualTo("Good day, Ada");
            assertThat(addressedVisitor.desk.greet("Eve")).isEqualTo("Good day, Eve");
        }
    }

    /** Sets properties with the precedence of application.properties. */
    static final class SettingsOfTheApplication
            implements ApplicationContextInitializer<ConfigurableApplicationContext> {
        @Override
        public void initialize(ConfigurableApplicationContext context) {
            context.getEnvironment()
                    .getPropertySources()
                    .addLast(new MapPropertySource(
                            "application",
                            Map.of(
                                    "spring.application.name", "shop",
                                    "rpc.client.services.desk.url", "127.0.0.1:1",
                                    "rpc.client.registry", "zookeeper://127.0.0.1:1",
                                    "rpc.server.registry[0]", "zookeeper://127.0.0.1:1")));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}

    public interface Desk {
        String greet(@NotBlank String name);
    }

    @RpcService
    static class Clerk implements Desk {
        @Override
        public String greet(String name) {
            return "Good day, " + name;
        }
    }

    @Component
    static class AddressedVisitor {
        @RpcReference(name = "addressed", url = "127.0.0.1:1")
        Desk desk;
    }

    @Component
    static class Visitor {
        private final Desk desk;

        Visitor(@RpcReference Desk desk) {
            this.desk = desk;
        }

        String enter() {
            return desk.greet("Ada");
        }
    }
}
