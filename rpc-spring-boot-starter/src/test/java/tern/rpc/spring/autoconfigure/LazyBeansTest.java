package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.application;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Scope;
import tern.rpc.spring.RpcFallback;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/**
 * Tests that startup also reports mistakes in beans that are created later: services that are not exported, and
 * settings that are not used by any reference.
 */
@ExtendWith(OutputCaptureExtension.class)
class LazyBeansTest {

    private static final String NOWHERE = "rpc.client.url=127.0.0.1:1";
    private static final String HIDDEN = "which is an @RpcService, but it is not exported, because only its class has";
    private static final String UNUSED = "but no reference has that name";

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

    static class PlainBell implements Bells {
        @Override
        public String ring() {
            return "dong";
        }
    }

    record LoudBells(Bells bells) implements Bells {
        @Override
        public String ring() {
            return bells.ring() + "!";
        }
    }

    /** Makes all beans lazy, as {@code spring.main.lazy-initialization=true} does. */
    private static ApplicationContextRunner lazily(ApplicationContextRunner application) {
        return application
                .withPropertyValues("spring.main.lazy-initialization=true")
                .withInitializer(context ->
                        context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()));
    }

    @ParameterizedTest
    @ValueSource(classes = {LazyBell.class, LazyBellBesideAService.class, PrototypeBell.class})
    void serviceThatALazyBeanMethodHidesIsReported(Class<?> configuration, CapturedOutput output) {
        provider(configuration).run(there -> assertThat(there).hasNotFailed());

        assertThat(output)
                .containsOnlyOnce("Bean 'bells' will be a " + Bell.class.getName() + ", " + HIDDEN
                        + " the annotation, and the @Bean method " + configuration.getName() + ".bells returns "
                        + Bells.class.getName()
                        + ". Put @RpcService on the @Bean method, or let the method return the class.")
                .doesNotContain("no bean with @RpcService was found");
    }

    @Test
    void serviceThatABeanMethodHidesIsReportedIfAllBeansAreInitializedLazily(CapturedOutput output) {
        lazily(provider(EagerBellBesideAService.class))
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output).containsOnlyOnce("Bean 'bells' will be a " + Bell.class.getName() + ", " + HIDDEN);
    }

    @ParameterizedTest
    @ValueSource(classes = {AnnotatedLazyBell.class, LazyPlainBell.class, LazyDecorator.class, LazyClass.class})
    void otherLazyBeansAreNotReported(Class<?> configuration, CapturedOutput output) {
        provider(configuration).run(there -> assertThat(there).hasNotFailed());

        assertThat(output).doesNotContain(HIDDEN);
    }

    @Test
    void settingsThatNoReferenceUsesAreNamedIfAllBeansAreInitializedLazily(CapturedOutput output) {
        lazily(application(FieldUser.class))
                .withPropertyValues(
                        NOWHERE,
                        "rpc.client.services.greting-service.timeout=1s",
                        "rpc.client.services.greeting-service.timeout=1s")
                .run(here -> {
                    assertThat(here).hasNotFailed();
                    String user = here.getBeanNamesForType(FieldUser.class)[0];
                    assertThat(here.getBeanFactory().containsSingleton(user)).isFalse();
                });

        assertThat(output)
                .contains("rpc.client.services.greting-service is set, " + UNUSED + "; there are greeting-service")
                .doesNotContain("rpc.client.services.greeting-service is set");
    }

    @Test
    void settingsOfAMethodThatDoesNotExistStopTheStartIfAllBeansAreInitializedLazily() {
        lazily(application(FieldUser.class))
                .withPropertyValues(NOWHERE, "rpc.client.services.greeting-service.methods.gret.timeout=1s")
                .run(here -> assertThat(here.getStartupFailure()).hasMessageContaining("no method 'gret'"));
    }

    @Test
    void settingsWithoutEffectAreNamedIfAllBeansAreInitializedLazily(CapturedOutput output) {
        lazily(application(FieldUser.class))
                .withPropertyValues(
                        NOWHERE, "rpc.client.check-timeout=1s", "rpc.client.services.greeting-service.hedging=true")
                .run(here -> assertThat(here).hasNotFailed());

        assertThat(output)
                .contains("rpc.client.check-timeout (no reference has check)")
                .contains("rpc.client.services.greeting-service.hedging (no method of GreetingService is marked");
    }

    @Test
    void fallbackOfNoReferenceIsNamedIfAllBeansAreInitializedLazily(CapturedOutput output) {
        lazily(application(FieldUser.class, Fallback.class, FallbackOfBells.class))
                .withPropertyValues(NOWHERE)
                .run(here -> assertThat(here).hasNotFailed());

        assertThat(output)
                .contains("is for " + Bells.class.getName() + ", but no reference calls this service")
                .doesNotContain("is for " + GreetingService.class.getName());
    }

    @ParameterizedTest
    @CsvSource({
        "LazyUser, greeting-service",
        "PrototypeUser, greeting-service",
        "LazyFactoryMethodUser, greeting-service",
        "NamedLazyUser, orders",
    })
    void settingsOfAReferenceThatIsCreatedLaterAreNotReported(String user, String name, CapturedOutput output)
            throws Exception {
        application(Class.forName(getClass().getName() + "$" + user))
                .withPropertyValues(NOWHERE, "rpc.client.services." + name + ".timeout=1s")
                .run(here -> assertThat(here).hasNotFailed());

        assertThat(output).doesNotContain(UNUSED);
    }

    @ParameterizedTest
    @ValueSource(classes = {HiddenUser.class, HiddenRunner.class, HiddenDecoratedUser.class})
    void settingsOfAReferenceThatABeanMethodHidesAreNotReported(Class<?> user, CapturedOutput output) {
        lazily(application(user, Fallback.class))
                .withPropertyValues(
                        NOWHERE,
                        "rpc.client.services.greeting-service.timeout=1s",
                        "rpc.client.services.greting-service.timeout=1s")
                .run(here -> assertThat(here).hasNotFailed());

        assertThat(output)
                .contains("rpc.client.services.greting-service is set, " + UNUSED + "; there are greeting-service")
                .doesNotContain("rpc.client.services.greeting-service is set", "no reference calls this service");
    }

    @Test
    void unusedSettingsMayBelongToABeanWhoseClassIsUnknown(CapturedOutput output) {
        lazily(application(UnknownUser.class))
                .withPropertyValues(NOWHERE, "rpc.client.services.greeting-service.timeout=1s")
                .run(here -> assertThat(here).hasNotFailed());

        assertThat(output)
                .contains("rpc.client.services.greeting-service is set, " + UNUSED + "; there is no reference. Beans"
                        + " that are created later, and whose @Bean method returns an interface, may have references,"
                        + " too");
    }

    @Test
    void lazyBeanWithAHiddenClassMayMakeCalls(CapturedOutput output) {
        lazily(application(HiddenUser.class))
                .withPropertyValues(NOWHERE)
                .run(here -> assertThat(here).hasNotFailed());

        assertThat(output).doesNotContain("Nothing is served or called");
    }

    /** A mistake in a lazy reference is reported when the bean with this reference is created, as for any lazy bean. */
    @Test
    void lazyReferenceWithoutAnAddressDoesNotStopTheStart() {
        application(LazyUser.class).run(here -> assertThat(here).hasNotFailed());
    }

    @Configuration(proxyBeanMethods = false)
    static class LazyBell {
        @Bean
        @Lazy
        Bells bells() {
            return new Bell();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Greeter.class)
    static class LazyBellBesideAService {
        @Bean
        @Lazy
        Bells bells() {
            return new Bell();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Greeter.class)
    static class PrototypeBell {
        @Bean
        @Scope("prototype")
        Bells bells() {
            return new Bell();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Greeter.class)
    static class EagerBellBesideAService {
        @Bean
        Bells bells() {
            return new Bell();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Greeter.class)
    static class AnnotatedLazyBell {
        @Bean
        @Lazy
        @RpcService
        Bells bells() {
            return new Bell();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Greeter.class)
    static class LazyPlainBell {
        @Bean
        @Lazy
        Bells bells() {
            return new PlainBell();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Greeter.class)
    static class LazyDecorator {
        @Bean
        @Lazy
        Bells bells() {
            return new LoudBells(new Bell());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Greeter.class)
    static class LazyClass {
        @Bean
        @Lazy
        Bell bells() {
            return new Bell();
        }
    }

    static class FieldUser {
        @RpcReference
        GreetingService greetings;
    }

    @Lazy
    static class LazyUser {
        LazyUser(@RpcReference GreetingService greetings) {}
    }

    @Scope("prototype")
    static class PrototypeUser {
        @RpcReference
        GreetingService greetings;
    }

    @Lazy
    static class NamedLazyUser {
        @RpcReference(name = "orders")
        GreetingService greetings;
    }

    @Configuration(proxyBeanMethods = false)
    static class LazyFactoryMethodUser {
        @Bean
        @Lazy
        StringBuilder text(@RpcReference GreetingService greetings) {
            return new StringBuilder(greetings.greet("Ada"));
        }
    }

    static class GreetingBell implements Bells, Runnable {
        @RpcReference
        GreetingService greetings;

        @Override
        public String ring() {
            return greetings.greet("Ada");
        }

        @Override
        public void run() {
            ring();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class HiddenUser {
        @Bean
        Bells bells() {
            return new GreetingBell();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class HiddenRunner {
        @Bean
        Runnable runner() {
            return new GreetingBell();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class HiddenDecoratedUser {
        @Bean
        Bells bells() {
            return new LoudBells(new GreetingBell());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class UnknownUser {
        @Bean
        Bells bells() {
            return made();
        }

        private static Bells made() {
            return new GreetingBell();
        }
    }

    @RpcFallback(forInterface = GreetingService.class)
    static class Fallback implements GreetingService {
        @Override
        public String greet(String name) {
            return "nobody";
        }
    }

    @RpcFallback(forInterface = Bells.class)
    static class FallbackOfBells implements Bells {
        @Override
        public String ring() {
            return "silence";
        }
    }
}
