package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import java.util.Optional;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.mockito.Mockito;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Primary;
import org.springframework.test.context.bean.override.convention.TestBean;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.context.bean.override.mockito.MockitoSpyBean;
import org.springframework.util.ReflectionUtils;
import tern.rpc.RpcException;
import tern.rpc.server.RpcServer;
import tern.rpc.settings.RpcStartException;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/** Tests which local beans replace the remote proxy of a reference. */
@Timeout(120)
class OverriddenReferenceTest {

    private static final String NOWHERE = "rpc.client.url=127.0.0.1:1";
    private static final String FREE_PORT = "rpc.server.port=0";

    @Nested
    @SpringBootTest(classes = Consumers.class, webEnvironment = WebEnvironment.NONE)
    class WithAMockOfTheTest {

        @MockitoBean
        Hello hello;

        @Autowired
        Consumers consumers;

        @RpcReference
        Hello ofTheTest;

        @Test
        void everyPlaceGetsTheMockAndNoAddressIsNeeded(@RpcReference Hello parameter) {
            when(hello.hello("Ada")).thenReturn("mocked");

            assertThat(consumers.field.hello("Ada")).isEqualTo("mocked");
            assertThat(consumers.constructor.hello("Ada")).isEqualTo("mocked");
            assertThat(consumers.setter.hello("Ada")).isEqualTo("mocked");
            assertThat(consumers.beanMethod.hello("Ada")).isEqualTo("mocked");
            assertThat(consumers.blue.hello("Ada")).isEqualTo("mocked");
            assertThat(consumers.optional).containsSame(hello);
            assertThat(consumers.objects.getObject()).isSameAs(hello);
            assertThat(consumers.lazy.hello("Ada")).isEqualTo("mocked");
            assertThat(ofTheTest).isSameAs(hello);
            assertThat(parameter).isSameAs(hello);
        }
    }

    @Nested
    @SpringBootTest(classes = Consumers.class, webEnvironment = WebEnvironment.NONE)
    @MockitoBean(types = Hello.class)
    class WithAMockOfTheClass {

        @Test
        void referenceGetsTheMock(@Autowired Consumers consumers) {
            assertThat(Mockito.mockingDetails(consumers.field).isMock()).isTrue();
        }
    }

    @Nested
    @SpringBootTest(
            classes = {Consumers.class, Greeter.class},
            webEnvironment = WebEnvironment.NONE,
            properties = FREE_PORT)
    class WithAMockInPlaceOfTheProvider {

        @MockitoBean
        Hello hello;

        @Test
        void referenceGetsTheMock(@Autowired Consumers consumers) {
            assertThat(consumers.field).isSameAs(hello);
        }

        @Test
        void onlyTheServiceOfTheMockIsExported(@Autowired RpcServer server) {
            assertThat(BuiltInService.others(server.exports())).containsExactly(Hello.class.getName());
        }
    }

    @Nested
    @SpringBootTest(classes = Consumers.class, webEnvironment = WebEnvironment.NONE, properties = NOWHERE)
    class WithMocksByName {

        @MockitoBean(name = "field")
        Hello one;

        @MockitoBean(name = "blue-hello")
        Hello two;

        @Test
        void eachReferenceGetsTheMockOfItsNameAndOthersStayRemote(@Autowired Consumers consumers) {
            assertThat(consumers.field).isSameAs(one);
            assertThat(consumers.blue).isSameAs(two);
            assertThat(consumers.constructor).isNotSameAs(one).isNotSameAs(two);
            assertThatExceptionOfType(RpcException.class).isThrownBy(() -> consumers.constructor.hello("Ada"));
        }
    }

    @Nested
    @SpringBootTest(classes = QualifiedConsumer.class, webEnvironment = WebEnvironment.NONE, properties = NOWHERE)
    class WithAQualifier {

        @MockitoBean
        @Qualifier("red")
        Hello red;

        @Test
        void qualifiersDistinguishMocks(@Autowired QualifiedConsumer consumer) {
            assertThat(consumer.first).isSameAs(red);
            assertThat(consumer.second).isNotSameAs(red);
        }
    }

    @Nested
    @SpringBootTest(classes = Consumers.class, webEnvironment = WebEnvironment.NONE)
    class WithATestBean {

        @TestBean
        Hello hello;

        static Hello hello() {
            return name -> "by hand, " + name;
        }

        @Test
        void referenceGetsTheReplacement(@Autowired Consumers consumers) {
            assertThat(consumers.field.hello("Ada")).isEqualTo("by hand, Ada");
        }
    }

    @Nested
    @SpringBootTest(
            classes = {Consumers.class, WithAPrimaryBean.Stubs.class},
            webEnvironment = WebEnvironment.NONE)
    class WithAPrimaryBean {

        @TestConfiguration(proxyBeanMethods = false)
        static class Stubs {
            @Bean
            @Primary
            Hello stub() {
                return name -> "stub, " + name;
            }
        }

        @Test
        void referenceGetsTheReplacement(@Autowired Consumers consumers) {
            assertThat(consumers.field.hello("Ada")).isEqualTo("stub, Ada");
            assertThat(consumers.beanMethod.hello("Ada")).isEqualTo("stub, Ada");
        }
    }

    @Nested
    @SpringBootTest(
            classes = {Consumers.class, Greeter.class},
            webEnvironment = WebEnvironment.NONE,
            properties = {"rpc.client.url=local", "rpc.client.services.blue-hello.group=", FREE_PORT})
    class WithASpyOfTheProvider {

        @MockitoSpyBean
        Greeter greeter;

        @Test
        void callIsStillSentAndTheSpySeesIt(@Autowired Consumers consumers) {
            assertThat(consumers.field).isNotSameAs(greeter);
            assertThat(consumers.field.hello("Ada")).isEqualTo("Hello Ada");
            verify(greeter).hello("Ada");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class StubWithoutPrimary {
        @Bean
        Hello stub() {
            return name -> "stub, " + name;
        }
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void logSaysThatAnotherLocalBeanIsNotUsed(CapturedOutput output) {
        Logger log = (Logger) LoggerFactory.getLogger(OverridingBeans.class);
        log.setLevel(Level.INFO);
        try {
            Applications.provider(Consumers.class, Greeter.class, StubWithoutPrimary.class)
                    .withPropertyValues(NOWHERE)
                    .run(here -> assertThatExceptionOfType(RpcException.class)
                            .isThrownBy(
                                    () -> here.getBean(Consumers.class).field.hello("Ada")));
        } finally {
            log.setLevel(null);
        }

        assertThat(output)
                .contains(Consumers.class.getName() + ".field makes remote calls, and does not use the local bean"
                        + " stub. To use a local bean instead, mark it @Primary");
    }

    @Test
    void providerOfTheSameApplicationDoesNotReplaceAReference() {
        Applications.provider(Consumers.class, Greeter.class)
                .withPropertyValues(NOWHERE)
                .run(here -> assertThatExceptionOfType(RpcException.class)
                        .isThrownBy(() -> here.getBean(Consumers.class).field.hello("Ada")));
    }

    @Test
    void primaryProviderOfTheSameApplicationDoesNotReplaceAReference() {
        Applications.provider(Consumers.class, PrimaryGreeter.class)
                .withPropertyValues(NOWHERE)
                .run(here -> assertThatExceptionOfType(RpcException.class)
                        .isThrownBy(() -> here.getBean(Consumers.class).field.hello("Ada")));
    }

    @Test
    void primaryDecoratorGetsTheRemoteProxyItself() {
        Applications.provider(Greeter.class, Decorator.class, Consumers.class)
                .withPropertyValues("rpc.client.url=local", "rpc.client.services.blue-hello.group=")
                .run(here -> assertThat(here.getBean(Consumers.class).field.hello("Ada"))
                        .isEqualTo("[Hello Ada]"));
    }

    @Test
    void primaryDecoratorGetsTheRemoteProxyInsideOfAProviderToo() {
        Applications.provider(Greeter.class)
                .run(there -> Applications.consumerOf(there, LateDecorator.class)
                        .run(here -> assertThat(
                                        here.getBean(LateDecorator.class).hello("Ada"))
                                .isEqualTo("[Hello Ada]")));
    }

    @Test
    void severalOverridesThatSuitAreNamed() {
        Applications.application(Consumers.class, TwoPrimaries.class)
                .withPropertyValues(NOWHERE)
                .run(here -> assertThat(StartFailures.causeOf(here.getStartupFailure()))
                        .hasMessageContaining("one, two"));
    }

    public interface Hello {
        String hello(String name);
    }

    @RpcService
    static class Greeter implements Hello {
        @Override
        public String hello(String name) {
            return "Hello " + name;
        }
    }

    @Primary
    @RpcService
    static class PrimaryGreeter extends Greeter {}

    @Primary
    static class Decorator implements Hello {
        @RpcReference
        Hello remote;

        @Override
        public String hello(String name) {
            return "[" + remote.hello(name) + "]";
        }
    }

    @Primary
    static class LateDecorator implements Hello {
        @RpcReference
        ObjectProvider<Hello> remote;

        @Override
        public String hello(String name) {
            return "[" + remote.getObject().hello(name) + "]";
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoPrimaries {
        @Bean
        @Primary
        Hello one() {
            return name -> "1";
        }

        @Bean
        @Primary
        Hello two() {
            return name -> "2";
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class QualifiedConsumer {
        @RpcReference
        @Qualifier("red")
        Hello first;

        @RpcReference
        @Qualifier("green")
        Hello second;
    }

    @Test
    void mocksWithOtherNamesAreNamedIfTheReferenceCannotBeMade() {
        Applications.application(OneReference.class)
                .withInitializer(context -> {
                    BeanDefinitionRegistry beans = (BeanDefinitionRegistry) context.getBeanFactory();
                    register(beans, "one");
                    register(beans, "two");
                })
                .run(here -> {
                    RpcStartException failure = StartFailures.causeOf(here.getStartupFailure());
                    assertThat(failure)
                            .hasMessageStartingWith("No provider of " + Hello.class.getName() + " is configured")
                            .hasMessageEndingWith(
                                    "; the local beans one, two override this type, but have other names");
                    assertThat(failure.action())
                            .startsWith("Give one of these beans the name of the field or parameter");
                });
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void logSaysThatAQualifierChoosesNoProvider(CapturedOutput output) {
        Logger log = (Logger) LoggerFactory.getLogger(RpcReferenceResolver.class);
        log.setLevel(Level.INFO);

        Applications.application(OfProviders.class)
                .withPropertyValues(NOWHERE)
                .run(here -> assertThat(here).hasNotFailed());

        log.setLevel(null);
        assertThat(output)
                .containsOnlyOnce("makes remote calls: its @Qualifier selects among local beans")
                .containsOnlyOnce(OfProviders.class.getName() + ".qualified makes remote calls: its @Qualifier")
                .contains("To choose one, set group or version in @RpcReference");
    }

    @Configuration(proxyBeanMethods = false)
    static class OfProviders {
        @RpcReference
        @Qualifier("orders-eu")
        Hello qualified;

        @RpcReference
        Hello plain;
    }

    private static void register(BeanDefinitionRegistry beans, String name) {
        RootBeanDefinition mock = new RootBeanDefinition(Hello.class, () -> Mockito.mock(Hello.class));
        mock.setQualifiedElement(ReflectionUtils.findField(NamedMocks.class, name));
        beans.registerBeanDefinition(name, mock);
    }

    static class OneReference {
        @RpcReference
        Hello hello;
    }

    static class NamedMocks {
        @MockitoBean(name = "one")
        Hello one;

        @MockitoBean(name = "two")
        Hello two;
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(BeanMethod.class)
    static class Consumers {
        @RpcReference
        Hello field;

        @RpcReference(name = "blue-hello", group = "blue")
        Hello blue;

        @RpcReference
        Optional<Hello> optional = Optional.empty();

        @RpcReference
        ObjectProvider<Hello> objects;

        @Lazy
        @RpcReference
        Hello lazy;

        @Autowired
        Held held;

        Hello beanMethod = name -> "";
        Hello setter = name -> "";
        final Hello constructor;

        Consumers(@RpcReference Hello given) {
            this.constructor = given;
        }

        @RpcReference
        void setSetter(Hello given) {
            this.setter = given;
        }

        @Autowired
        void setHeld(Held held) {
            this.beanMethod = held.hello;
        }
    }

    record Held(Hello hello) {}

    @Configuration(proxyBeanMethods = false)
    static class BeanMethod {
        @Bean
        Held held(@RpcReference Hello greetings) {
            return new Held(greetings);
        }
    }
}
