package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static tern.rpc.spring.autoconfigure.Applications.application;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.core.env.Environment;
import tern.rpc.RpcMethod;
import tern.rpc.WireName;
import tern.rpc.settings.RpcStartException;
import tern.rpc.spring.LocalRpcPort;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/** Tests that startup fails if an annotation is in a place where it has no effect. */
class MisplacedAnnotationsTest {

    @Test
    void markOnAMethodOfTheClassStopsTheStartAndBothMethodsAreNamed() {
        RpcStartException failure = failureOf(Marked.class);

        assertThat(failure)
                .hasMessageContaining("@RpcMethod is on the method " + Marked.class.getName() + ".greet(String)")
                .hasMessageContaining("where it has no effect");
        assertThat(failure.action()).contains(GreetingService.class.getName() + ".greet(String)");
    }

    @Test
    void markOnAClassBehindAProxyOfCglibIsFound() {
        assertThat(failureOf(Proxied.class)).hasMessageContaining(Proxied.class.getName() + ".greet(String)");
    }

    @Test
    void markOnAClassBehindAnInterfaceOfABeanMethodIsFound() {
        assertThat(failureOf(Hidden.class)).hasMessageContaining(Marked.class.getName() + ".greet(String)");
    }

    @Test
    void markInASuperclassIsFound() {
        assertThat(failureOf(Derived.class)).hasMessageContaining(Marked.class.getName() + ".greet(String)");
    }

    @Test
    void markOnAnImplementationOfAGenericInterfaceNamesTheMethodOfTheInterface() {
        assertThat(failureOf(Copier.class).action()).contains(Copies.class.getName() + ".copy(");
    }

    @Test
    void markOnAMethodThatNoInterfaceHasStopsTheStart() {
        assertThat(failureOf(Extended.class))
                .hasMessageContaining(Extended.class.getName() + ".more()")
                .hasMessageContaining("no service interface of the bean has this method");
    }

    @Test
    void wireNameOnTheClassOfAServiceStopsTheStart() {
        RpcStartException ofClass = failureOf(NamedClass.class);
        assertThat(ofClass)
                .hasMessageStartingWith("@WireName is on the class " + NamedClass.class.getName() + " of bean '")
                .hasMessageEndingWith("', where it has no effect");
        assertThat(ofClass.action())
                .isEqualTo("Move the annotation to the interface, " + GreetingService.class.getName() + ".");

        RpcStartException ofMethod = failureOf(NamedMethod.class);
        assertThat(ofMethod)
                .hasMessageStartingWith("@WireName is on the method " + NamedMethod.class.getName() + ".greet(String)");
        assertThat(ofMethod.action()).contains(GreetingService.class.getName() + ".greet(String)");
    }

    @Test
    void wireNameThatRepeatsTheOneOfTheInterfaceDoesNoHarm() {
        provider(NamedTwice.class).run(there -> assertThat(there).hasNotFailed());
    }

    @Test
    void markThatRepeatsTheOneOfTheInterfaceDoesNoHarm() {
        provider(Repeating.class).run(there -> assertThat(there).hasNotFailed());
    }

    @Test
    void referenceToAnInterfaceOfJavaStopsTheStart() {
        assertThat(referenceFailureOf(SupplierUser.class))
                .hasMessageContaining(SupplierUser.class.getName() + ".greetings refers to " + Supplier.class.getName()
                        + ", which belongs to Java or a framework and is not a service");
        assertThat(referenceFailureOf(CallableUser.class)).hasMessageContaining(Callable.class.getName());
    }

    @Test
    void referenceToASealedInterfaceStopsTheStart() {
        RpcStartException failure = referenceFailureOf(SealedUser.class);

        assertThat(failure)
                .hasMessageContaining(SealedUser.class.getName() + ".sealed refers to " + Sealed.class.getName()
                        + ", which is sealed");
        assertThat(failure.action()).isEqualTo("Remove sealed and permits from the interface.");
    }

    @Test
    void referenceInAStaticFieldStopsTheStart() {
        assertThat(referenceFailureOf(StaticFieldUser.class))
                .hasMessageContaining(StaticFieldUser.class.getName() + ".greetings has @RpcReference, but is static");
    }

    @Test
    void referenceOnAStaticMethodStopsTheStart() {
        assertThat(referenceFailureOf(StaticMethodUser.class))
                .hasMessageContaining(StaticMethodUser.class.getName() + ".set has @RpcReference, but is static");
    }

    @Test
    void referenceOnAParameterThatSpringDoesNotInjectStopsTheStart() {
        assertThat(referenceFailureOf(SetterUser.class))
                .hasMessageContaining(SetterUser.class.getName()
                        + ".setGreetings has @RpcReference on a parameter, but Spring does not inject the parameters of"
                        + " this method");
        assertThat(referenceFailureOf(HandlerUser.class)).hasMessageContaining(HandlerUser.class.getName() + ".greet");
    }

    @Test
    void referenceOnAMethodWithALocalParameterIsExplained() {
        RpcStartException failure = referenceFailureOf(MethodUser.class);

        assertThat(failure)
                .hasMessage(MethodUser.class.getName() + ", parameter 2 of set refers to " + Prices.class.getName()
                        + ", which is not an interface");
        assertThat(failure.action())
                .isEqualTo("@RpcReference on the method set applies to all its parameters: put @Autowired on the"
                        + " method, and @RpcReference on the parameters that are remote services.");
    }

    @Test
    void referenceToAClassIsRefusedEvenIfLocalBeansHaveThisClass() {
        assertThat(referenceFailureOf(ObjectUser.class))
                .hasMessageEndingWith("anything refers to java.lang.Object, which is not an interface");
    }

    @Test
    void referenceOnAParameterOfAnInjectedMethodIsInjected() {
        application(AutowiredUser.class)
                .withPropertyValues("rpc.client.url=127.0.0.1:1")
                .run(here ->
                        assertThat(here.getBean(AutowiredUser.class).greetings).isNotNull());
    }

    @Test
    void annotationThatLombokCopiesFromAFieldToItsSetterDoesNotStopTheStart() {
        application(LombokUser.class)
                .withPropertyValues("rpc.client.url=127.0.0.1:1")
                .run(here ->
                        assertThat(here.getBean(LombokUser.class).greetings).isNotNull());
    }

    @Test
    void referenceOnAParameterOfAFactoryMethodIsInjected() {
        application(FactoryMethodUser.class)
                .withPropertyValues("rpc.client.url=127.0.0.1:1")
                .run(here -> assertThat(here.getBean(Made.class).greetings).isNotNull());
    }

    @Test
    void portThatAPropertySetsIsInjectedWithoutAServer() {
        application(PortUser.class)
                .withPropertyValues("local.rpc.port=4711")
                .run(here -> assertThat(here.getBean(PortUser.class).port).isEqualTo(4711));
    }

    @Test
    void portOfAnApplicationWithoutAServerStopsTheStart() {
        assertThat(referenceFailureOf(PortUser.class))
                .hasMessageContaining(
                        PortUser.class.getName() + ".port has @LocalRpcPort, but this application has no RPC server");
    }

    @Test
    void referenceInTheClassOfABeanThatTheClientNeedsIsExplained() {
        RpcStartException failure = referenceFailureOf(MetersAndUser.class);

        assertThat(failure)
                .hasMessageContaining(MetersAndUser.class.getName() + ".greetings refers to "
                        + GreetingService.class.getName()
                        + ", but the client needs a bean from the @Bean methods of " + MetersAndUser.class.getName())
                .hasMessageContaining("(meters)");
        assertThat(failure.action()).contains("Make the @Bean methods static");
    }

    @Test
    void referenceInAClassWithAStaticBeanMethodIsInjected() {
        application(StaticMetersAndUser.class)
                .withPropertyValues("rpc.client.url=127.0.0.1:1")
                .run(here -> assertThat(here.getBean(StaticMetersAndUser.class).greetings)
                        .isNotNull());
    }

    @Test
    void referenceInPropertiesStopsTheStart() {
        assertThat(referenceFailureOf(PropertiesUser.class))
                .hasMessageContaining(GreetingProperties.class.getName()
                        + " has @RpcReference on the parameter greetings of its constructor, but Spring Boot creates"
                        + " @ConfigurationProperties from properties alone");
    }

    @Test
    void referenceInAComponentWithPropertiesIsInjected() {
        application(ComponentProperties.class, BoundUser.class)
                .withPropertyValues("rpc.client.url=127.0.0.1:1")
                .run(here -> assertThat(here.getBean(ComponentProperties.class).greetings)
                        .isNotNull());
    }

    @ExtendWith(OutputCaptureExtension.class)
    @Test
    void referenceOnABeanMethodIsExplained(CapturedOutput output) {
        assertThatThrownBy(() -> new SpringApplicationBuilder(BeanMethodUser.class)
                        .web(WebApplicationType.NONE)
                        .run())
                .isNotNull();

        assertThat(output)
                .contains("The @Bean method 'greetings' of " + BeanMethodUser.class.getName() + " has @RpcReference")
                .contains("Put @RpcReference on a parameter of the @Bean method");
    }

    @ParameterizedTest
    @ValueSource(strings = {"grpc", "h2c", "http2", "https", "grpcs", "triple"})
    void protocolOfOtherFrameworksIsAnsweredWithTheOneToWrite(String protocol) {
        application(User.class)
                .withPropertyValues("rpc.client.url=" + protocol + "://127.0.0.1:1")
                .run(here -> assertThat(StartFailures.causeOf(here.getStartupFailure()))
                        .hasMessageContaining("protocol '" + protocol + "' of ")
                        .hasMessageContaining("tri")
                        .hasMessageContaining(
                                protocol.endsWith("s")
                                        ? "rpc.client.ssl.bundle adds TLS"
                                        : "tri is the protocol for gRPC"));
    }

    @Test
    void registryThatIsNotSupportedIsAnsweredWithTheSupportedOnes() {
        application(User.class)
                .withPropertyValues("rpc.client.url=nacos://127.0.0.1:8848")
                .run(here -> assertThat(StartFailures.causeOf(here.getStartupFailure()))
                        .hasMessageContaining("the supported registries are zookeeper and file"));
    }

    @Test
    void unknownProtocolOfAServiceIsReportedWithThePropertyOfTheService() {
        application(User.class)
                .withPropertyValues(
                        "rpc.client.url=tri://127.0.0.1:1",
                        "rpc.client.services.greeting-service.url=127.0.0.1:2,thrift://127.0.0.1:1")
                .run(here -> assertThat(StartFailures.causeOf(here.getStartupFailure()))
                        .hasMessageStartingWith("rpc.client.services.greeting-service.url: protocol 'thrift' of "));
    }

    @Test
    void unknownProtocolOfAnAnnotationIsReportedWithThePlaceOfTheAnnotation() {
        assertThat(referenceFailureOf(ThriftProtocolUser.class))
                .hasMessageStartingWith("@RpcReference(protocol) at " + ThriftProtocolUser.class.getName()
                        + ".greetings: protocol 'thrift' of ");
        assertThat(referenceFailureOf(ThriftAddressUser.class))
                .hasMessageStartingWith("@RpcReference(url) at " + ThriftAddressUser.class.getName()
                        + ".greetings: protocol 'thrift' of ");
    }

    private static RpcStartException failureOf(Class<?> provider) {
        RpcStartException[] failure = new RpcStartException[1];
        provider(provider).run(there -> failure[0] = StartFailures.causeOf(there.getStartupFailure()));
        return failure[0];
    }

    private static RpcStartException referenceFailureOf(Class<?> user) {
        RpcStartException[] failure = new RpcStartException[1];
        application(user)
                .withPropertyValues("rpc.client.url=127.0.0.1:1")
                .run(here -> failure[0] = StartFailures.causeOf(here.getStartupFailure()));
        return failure[0];
    }

    @ConfigurationProperties("greeting")
    record GreetingProperties(String text, @RpcReference GreetingService greetings) {}

    @Configuration(proxyBeanMethods = false)
    @EnableConfigurationProperties(GreetingProperties.class)
    static class PropertiesUser {}

    /** Spring creates this bean, and Spring Boot calls its setters. */
    @ConfigurationProperties("greeting")
    static class ComponentProperties {
        final GreetingService greetings;

        ComponentProperties(@RpcReference GreetingService greetings) {
            this.greetings = greetings;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableConfigurationProperties
    static class BoundUser {}

    static class ThriftProtocolUser {
        @RpcReference(protocol = "thrift")
        GreetingService greetings;
    }

    static class ThriftAddressUser {
        @RpcReference(url = "thrift://127.0.0.1:1")
        GreetingService greetings;
    }

    @RpcService
    static class Marked implements GreetingService {
        @Override
        @RpcMethod(idempotent = true)
        public String greet(String name) {
            return name;
        }
    }

    @RpcService
    @WireName("greet.Greeter")
    static class NamedClass implements GreetingService {
        @Override
        public String greet(String name) {
            return name;
        }
    }

    @RpcService
    static class NamedMethod implements GreetingService {
        @Override
        @WireName("SayHello")
        public String greet(String name) {
            return name;
        }
    }

    @WireName("greet.Greeter")
    interface NamedService {
        String greet(String name);
    }

    @RpcService
    @WireName("greet.Greeter")
    static class NamedTwice implements NamedService {
        @Override
        public String greet(String name) {
            return name;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Hidden {
        @Bean
        @RpcService
        GreetingService greetings() {
            return new Marked();
        }
    }

    @RpcService
    static class Derived extends Marked {}

    @RpcService
    @Scope(value = "prototype", proxyMode = ScopedProxyMode.TARGET_CLASS)
    static class Proxied implements GreetingService {
        @Override
        @RpcMethod(timeout = "1s")
        public String greet(String name) {
            return name;
        }
    }

    @RpcService
    static class Extended extends Greeter {
        @RpcMethod(idempotent = true)
        public void more() {}
    }

    interface Copies<T> {
        T copy(T value);
    }

    interface TextCopies extends Copies<String> {}

    @RpcService
    static class Copier implements TextCopies {
        @Override
        @RpcMethod(readOnly = true)
        public String copy(String value) {
            return value;
        }
    }

    interface Repeated {
        @RpcMethod(idempotent = true)
        String take(String name);
    }

    @RpcService
    static class Repeating implements Repeated {
        @Override
        @RpcMethod(idempotent = true)
        public String take(String name) {
            return name;
        }
    }

    static class User {
        @RpcReference
        GreetingService greetings;
    }

    static class SupplierUser {
        @RpcReference
        Supplier<GreetingService> greetings;
    }

    static class CallableUser {
        CallableUser(@RpcReference Callable<GreetingService> greetings) {}
    }

    static class StaticFieldUser {
        @RpcReference
        static GreetingService greetings;
    }

    sealed interface Sealed permits OnlyImplementation {
        String greet(String name);
    }

    record OnlyImplementation() implements Sealed {
        @Override
        public String greet(String name) {
            return name;
        }
    }

    static class SealedUser {
        @RpcReference
        Sealed sealed;
    }

    static class PortUser {
        @LocalRpcPort
        int port;
    }

    @Configuration(proxyBeanMethods = false)
    static class MetersAndUser {
        @RpcReference
        GreetingService greetings;

        @Bean
        MeterRegistry meters() {
            return new SimpleMeterRegistry();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class StaticMetersAndUser {
        @RpcReference
        GreetingService greetings;

        @Bean
        static MeterRegistry meters() {
            return new SimpleMeterRegistry();
        }
    }

    static class Prices {}

    static class MethodUser {
        @RpcReference
        void set(GreetingService greetings, Prices prices) {
            // The application does not start, so Spring never calls this method.
        }
    }

    static class ObjectUser {
        @RpcReference
        Object anything;
    }

    static class SetterUser {
        void setGreetings(@RpcReference GreetingService greetings) {}
    }

    /** A class like the classes that Lombok generates for {@code @Data} if it is configured to copy the annotation. */
    static class LombokUser {
        @RpcReference
        private GreetingService greetings;

        public void setGreetings(@RpcReference GreetingService greetings) {
            this.greetings = greetings;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class FactoryMethodUser {
        @Bean
        static BeanDefinitionRegistryPostProcessor registrar() {
            return registry -> {
                RootBeanDefinition made = new RootBeanDefinition(Made.class);
                made.setFactoryMethodName("of");
                made.setAutowireMode(AbstractBeanDefinition.AUTOWIRE_CONSTRUCTOR);
                registry.registerBeanDefinition("made", made);
            };
        }
    }

    static class Made {
        final GreetingService greetings;

        private Made(GreetingService greetings) {
            this.greetings = greetings;
        }

        static Made of(@RpcReference GreetingService greetings) {
            return new Made(greetings);
        }
    }

    /** A method that Spring calls with arguments other than injected beans, such as a controller method. */
    static class HandlerUser {
        public String greet(String name, @RpcReference GreetingService greetings) {
            return greetings.greet(name);
        }
    }

    static class AutowiredUser {
        GreetingService greetings;

        @Autowired
        void prepare(@RpcReference GreetingService greetings, Environment environment) {
            this.greetings = greetings;
        }
    }

    static class StaticMethodUser {
        @RpcReference
        static void set(GreetingService greetings) {}
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class BeanMethodUser {
        @Bean
        @RpcReference
        GreetingService greetings() {
            return name -> name;
        }
    }
}
