package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static tern.rpc.spring.autoconfigure.Applications.application;
import static tern.rpc.spring.autoconfigure.Applications.consumerOf;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import io.grpc.health.v1.HealthGrpc;
import jakarta.annotation.Resource;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Flow;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.ArgumentResolver;
import tern.rpc.RpcMethod;
import tern.rpc.settings.RpcStartException;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;
import tern.rpc.spring.firstday.Messages;

/** Tests the places in which a reference can be injected, and the error messages for references in other places. */
class InjectionShapesTest {

    @Test
    void optionalProviderAndLazyHoldTheReference() {
        provider(Greeter.class)
                .run(there -> consumerOf(there, Held.class).run(here -> {
                    Held held = here.getBean(Held.class);

                    assertThat(held.optional.orElseThrow().greet("a")).isEqualTo("Hello a");
                    assertThat(held.objects.getObject().greet("b")).isEqualTo("Hello b");
                    assertThat(held.objects.getIfAvailable()).isSameAs(held.optional.get());
                    assertThat(held.factory.getObject().greet("c")).isEqualTo("Hello c");
                    assertThat(held.lazy.greet("d")).isEqualTo("Hello d");
                    assertThat(held.parameter.orElseThrow().greet("e")).isEqualTo("Hello e");
                }));
    }

    @Test
    void typeVariableOfASuperclassIsTheInterfaceThatTheBeanNames() {
        provider(Greeter.class)
                .run(there -> consumerOf(there, Named.class).run(here -> {
                    Named named = here.getBean(Named.class);

                    assertThat(named.service.greet("a")).isEqualTo("Hello a");
                    assertThat(named.optional.orElseThrow().greet("b")).isEqualTo("Hello b");
                }));
    }

    @Test
    void recordGetsItsReferencesInItsConstructor() {
        provider(Greeter.class)
                .run(there -> consumerOf(there, VisitorRecord.class).run(here -> {
                    VisitorRecord visitor = here.getBean(VisitorRecord.class);

                    assertThat(visitor.greetings().greet("a")).isEqualTo("Hello a");
                    assertThat(visitor.optional().orElseThrow().greet("b")).isEqualTo("Hello b");
                }));
    }

    @Test
    void severalReferencesAtOnceAreRefused() {
        Messages.assertSays("injection: list", failure(ManyUser.class));
        Messages.assertSays("injection: map", failure(MapUser.class));
        Messages.assertSays("injection: array", failure(ArrayUser.class));
    }

    @Test
    void constructorThatLostTheAnnotationIsExplained() {
        StringBuilder told = new StringBuilder();
        application(AsLombokWritesIt.class)
                .withPropertyValues("rpc.client.url=127.0.0.1:1")
                .run(here -> {
                    FailureAnalysis analysis =
                            new LostReferenceFailureAnalyzer(null, null).analyze(here.getStartupFailure());
                    told.append(analysis.getDescription()).append("\n\n").append(analysis.getAction());
                });

        Messages.assertSays("injection: @RequiredArgsConstructor", told.toString());
    }

    public interface Ticker {
        Flow.Publisher<String> watch();
    }

    static class TickerUser {
        @RpcReference
        Ticker ticker;
    }

    @Test
    void streamOverTheDefaultProtocolIsExplained() {
        assertThat(failure(TickerUser.class))
                .contains("Ticker/watch is a stream, which the dubbo protocol cannot send")
                .contains("tri://host:port", "@RpcReference(protocol = \"tri\")");
    }

    static class StubUser {
        @RpcReference
        HealthGrpc.HealthBlockingStub health;
    }

    static class GeneratedInterfaceUser {
        @RpcReference
        HealthGrpc.AsyncService health;
    }

    @Test
    void generatedStubsAreRefusedWithTheWayToCallTheService() {
        for (Class<?> user : List.of(StubUser.class, GeneratedInterfaceUser.class)) {
            assertThat(failure(user))
                    .contains("which is generated by gRPC's compiler")
                    .contains("an interface of your own, with the names of the .proto file in @WireName");
        }
    }

    static class Forgetful {
        Forgetful(GreetingService greetings) {}
    }

    static class ForgetfulField {
        @Autowired
        GreetingService greetings;
    }

    @ParameterizedTest
    @CsvSource({
        "Forgetful, 'InjectionShapesTest$Forgetful, parameter 1 of the constructor needs a bean of '",
        "ForgetfulField, 'InjectionShapesTest$ForgetfulField.greetings needs a bean of '",
    })
    void forgottenAnnotationIsExplained(String user, String place) throws Exception {
        Class<?> type = Class.forName(getClass().getName() + "$" + user);
        for (String setting : List.of("rpc.client.url=127.0.0.1:1", "rpc.client.services.greeting-service.url=h:1")) {
            application(type).withPropertyValues(setting).run(here -> {
                FailureAnalysis analysis =
                        new LostReferenceFailureAnalyzer(null, environment(setting)).analyze(here.getStartupFailure());

                assertThat(analysis).isNotNull();
                assertThat(analysis.getDescription()).contains(place + GreetingService.class.getName());
                assertThat(analysis.getAction()).contains("put @RpcReference on the", "lombok", "define a bean");
            });
        }
    }

    static class ResourceUser {
        @Resource
        GreetingService greetings;
    }

    static class LookingUser {
        LookingUser(BeanFactory beans) {
            beans.getBean(GreetingService.class);
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {ResourceUser.class, LookingUser.class})
    void serviceThatIsLookedUpAsABeanIsExplained(Class<?> user) {
        String setting = "rpc.client.url=127.0.0.1:1";
        application(user).withPropertyValues(setting).run(here -> {
            FailureAnalysis analysis =
                    new LostReferenceFailureAnalyzer(null, environment(setting)).analyze(here.getStartupFailure());

            assertThat(analysis).isNotNull();
            assertThat(analysis.getDescription())
                    .startsWith("Bean '")
                    .contains(user.getSimpleName() + "' needs a bean of " + GreetingService.class.getName());
            assertThat(analysis.getAction()).contains("put @RpcReference on the field or parameter");
        });
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoGreetings {
        @Bean
        GreetingService one() {
            return name -> "one";
        }

        @Bean
        GreetingService other() {
            return name -> "other";
        }
    }

    @Test
    void severalBeansOfTheInterfaceAreLeftToSpringsOwnMessage() {
        String setting = "rpc.client.url=127.0.0.1:1";

        application(Forgetful.class, TwoGreetings.class)
                .withPropertyValues(setting)
                .run(here -> assertThat(new LostReferenceFailureAnalyzer(null, environment(setting))
                                .analyze(here.getStartupFailure()))
                        .isNull());
    }

    public interface Door {
        String knock();

        void close();
    }

    @RpcService(interfaces = Door.class)
    static class Doors implements Door {
        final List<String> calls = new CopyOnWriteArrayList<>();

        @Override
        public String knock() {
            calls.add("knock");
            return "come in";
        }

        @Override
        public void close() {
            calls.add("close");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class DoorAsBean {
        @Bean(destroyMethod = "")
        Door door(@RpcReference Door door) {
            return door;
        }
    }

    static class Visitor {
        @RpcReference
        Door door;
    }

    @Test
    void referenceIsABeanWithoutADestroyMethodAndIsInjectedIntoObjectsOfOthers() {
        provider(Doors.class).run(there -> {
            consumerOf(there, DoorAsBean.class).run(here -> {
                Visitor visitor = new Visitor();
                here.getAutowireCapableBeanFactory().autowireBean(visitor);

                assertThat(here.getBean(Door.class).knock()).isEqualTo("come in");
                assertThat(visitor.door.knock()).isEqualTo("come in");
            });

            assertThat(there.getBean(Doors.class).calls).containsExactly("knock", "knock");
        });
    }

    @Test
    void missingBeanIsNotAnalyzedIfTheApplicationMakesNoCalls() {
        application(Forgetful.class)
                .run(here -> assertThat(new LostReferenceFailureAnalyzer(null, environment("rpc.client.timeout=1s"))
                                .analyze(here.getStartupFailure()))
                        .isNull());
    }

    private static Environment environment(String... properties) {
        StandardEnvironment environment = new StandardEnvironment();
        TestPropertyValues.of(properties).applyTo(environment);
        return environment;
    }

    @Test
    void missingBeanThatIsNotAReferenceIsNotAnalyzed() {
        application(Needy.class)
                .run(here -> assertThat(new LostReferenceFailureAnalyzer(null, null).analyze(here.getStartupFailure()))
                        .isNull());
        assertThat(analysisWithoutTern(Needy.class)).isNull();
    }

    /** A context without Tern's auto-configuration, as in a test slice such as {@code @WebMvcTest}. */
    @ParameterizedTest
    @CsvSource({
        "FieldUser, InjectionShapesTest$FieldUser.greetings",
        "SetterUser, 'InjectionShapesTest$SetterUser, parameter 1 of use'",
        "ParameterUser, 'InjectionShapesTest$ParameterUser, parameter 1 of the constructor'",
        "AsLombokWritesIt, InjectionShapesTest$AsLombokWritesIt.greetings",
    })
    void referenceWithoutTernsAutoConfigurationIsExplained(String user, String place) throws Exception {
        FailureAnalysis analysis = analysisWithoutTern(Class.forName(getClass().getName() + "$" + user));

        assertThat(analysis).isNotNull();
        assertThat(analysis.getDescription())
                .isEqualTo("tern.rpc.spring.autoconfigure." + place
                        + " has @RpcReference, but Tern's auto-configuration is not active in this context (test slice"
                        + " or exclusion), so a bean of " + GreetingService.class.getName() + " was looked for.");
        assertThat(analysis.getAction()).contains("add @MockitoBean GreetingService to the test");
    }

    /**
     * Runs Tern's failure analyzers in the same way as Spring Boot, for an application that consists of the given
     * class.
     */
    private static FailureAnalysis analysisWithoutTern(Class<?> user) {
        try (AnnotationConfigApplicationContext here = new AnnotationConfigApplicationContext()) {
            here.register(user);
            Throwable failure = catchThrowable(here::refresh);
            return SpringFactoriesLoader.forDefaultResourceLocation()
                    .load(FailureAnalyzer.class, ArgumentResolver.of(BeanFactory.class, here.getBeanFactory()))
                    .stream()
                    .filter(LostReferenceFailureAnalyzer.class::isInstance)
                    .findFirst()
                    .orElseThrow()
                    .analyze(failure);
        }
    }

    @Test
    void recordThatIsNotSerializableIsExplained() {
        StringBuilder told = new StringBuilder();
        provider(PlateService.class).run(here -> {
            RpcStartException failure = StartFailures.causeOf(here.getStartupFailure());
            told.append(failure.getMessage()).append("\n\n").append(failure.action());
        });

        Messages.assertSays("types: record that is not Serializable", told.toString());
    }

    @RpcService
    static class PlatesAndGreetings implements Plates, GreetingService {
        @Override
        public Plate take() {
            return new Plate("soup");
        }

        @Override
        public String greet(String name) {
            return name;
        }
    }

    @Test
    void interfaceThatCannotBeServedMayBeLeftOutIfThereIsAnother() {
        provider(PlatesAndGreetings.class)
                .run(here -> assertThat(
                                StartFailures.causeOf(here.getStartupFailure()).action())
                        .endsWith("If the interface is no service, name the interfaces to export in"
                                + " @RpcService(interfaces)."));
    }

    interface Clock {
        @RpcMethod(timeout = "2 seconds")
        String time();
    }

    static class ClockUser {
        @RpcReference
        Clock clock;
    }

    interface Archive {
        @RpcMethod(idempotent = true)
        InputStream open(String name);
    }

    static class ArchiveUser {
        @RpcReference
        Archive archive;
    }

    @Test
    void methodsWithMarksAreExplainedLikeOthers() {
        assertThat(failure(ClockUser.class))
                .startsWith(ClockUser.class.getName() + ".clock cannot refer to " + Clock.class.getName()
                        + ": Clock.time, @RpcMethod(timeout) is '2 seconds'; expected");
        assertThat(failure(ArchiveUser.class))
                .startsWith(ArchiveUser.class.getName() + ".archive cannot refer to " + Archive.class.getName()
                        + ": Archive.open, result: java.io.InputStream cannot be sent");
    }

    private static String failure(Class<?> user) {
        StringBuilder told = new StringBuilder();
        application(user).withPropertyValues("rpc.client.url=127.0.0.1:1").run(here -> {
            RpcStartException failure = StartFailures.causeOf(here.getStartupFailure());
            told.append(failure.getMessage()).append("\n\n").append(failure.action());
        });
        return told.toString();
    }

    static class Held {
        @RpcReference
        Optional<GreetingService> optional;

        @RpcReference
        ObjectProvider<GreetingService> objects;

        @RpcReference
        ObjectFactory<GreetingService> factory;

        @Lazy
        @RpcReference
        GreetingService lazy;

        final Optional<GreetingService> parameter;

        Held(@RpcReference Optional<GreetingService> parameter) {
            this.parameter = parameter;
        }
    }

    abstract static class OfAnyService<T> {
        @RpcReference
        T service;

        @RpcReference
        Optional<T> optional;
    }

    static class Named extends OfAnyService<GreetingService> {}

    record VisitorRecord(
            @RpcReference GreetingService greetings,
            @RpcReference Optional<GreetingService> optional) {}

    static class ManyUser {
        @RpcReference
        List<GreetingService> greetings;
    }

    static class MapUser {
        @RpcReference
        Map<String, GreetingService> greetings;
    }

    static class ArrayUser {
        @RpcReference
        GreetingService[] greetings;
    }

    static class AsLombokWritesIt {
        @RpcReference
        private final GreetingService greetings;

        AsLombokWritesIt(GreetingService greetings) {
            this.greetings = greetings;
        }

        String greet() {
            return greetings.greet("Ada");
        }
    }

    static class FieldUser {
        @RpcReference
        GreetingService greetings;
    }

    static class SetterUser {
        @RpcReference
        void use(GreetingService greetings) {}
    }

    static class ParameterUser {
        ParameterUser(@RpcReference GreetingService greetings) {}
    }

    static class Needy {
        Needy(GreetingService greetings) {}
    }

    record Plate(String dish) {}

    interface Plates {
        Plate take();
    }

    @RpcService
    static class PlateService implements Plates {
        @Override
        public Plate take() {
            return new Plate("soup");
        }
    }
}
