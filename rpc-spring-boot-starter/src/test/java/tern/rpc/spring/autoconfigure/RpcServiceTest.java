package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static tern.rpc.spring.autoconfigure.Applications.consumerOf;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import com.google.protobuf.RpcCallback;
import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MockClock;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.io.Serializable;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.shop.Till;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.samples.petclinic.Vets;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.SimpleTransactionStatus;
import tern.rpc.RpcException;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.rpc.settings.RpcStartException;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/**
 * Tests which beans are exported and under which names. Also tests the error messages for beans that cannot be
 * exported.
 */
class RpcServiceTest {

    @Test
    void proxiedByCglibIsExportedAndItsTransactionsRun() {
        provider(ClassProxies.class, TransactionalGreeter.class).run(there -> {
            assertThat(AopUtils.isCglibProxy(there.getBean(TransactionalGreeter.class)))
                    .isTrue();
            assertCallRunsInATransaction(there.getBean(Transactions.class), there);
        });
    }

    @Test
    void beanMethodWithAScopedProxyIsExportedOnce() {
        provider(ScopedConfiguration.class).run(there -> {
            assertThat(there.getBean(RpcServer.class).exports())
                    .filteredOn(export -> export.key().toString().equals(GreetingService.class.getName()))
                    .hasSize(1);

            consumerOf(there, User.class)
                    .run(here -> assertThat(here.getBean(User.class).greetings.greet("x"))
                            .isEqualTo("scoped x"));
        });
    }

    @Test
    void annotationOfTheBeanMethodWinsOverTheClass() {
        provider(TwoOfOneClass.class)
                .run(there -> assertThat(there.getBean(RpcServer.class).exports())
                        .extracting(export -> export.key().toString())
                        .contains(
                                "a/" + GreetingService.class.getName() + ":7",
                                "b/" + GreetingService.class.getName() + ":8"));
    }

    @RpcService(group = "class")
    static class Annotated implements GreetingService {
        @Override
        public String greet(String name) {
            return "annotated " + name;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoOfOneClass {
        @Bean
        @RpcService(group = "a", version = "7")
        Annotated a() {
            return new Annotated();
        }

        @Bean
        @RpcService(group = "b", version = "8")
        GreetingService b() {
            return new Annotated();
        }
    }

    @Test
    void interfaceOfALibraryIsExportedIfTheBeanMethodReturnsIt() {
        provider(LibraryConfiguration.class)
                .run(there -> assertThat(exported(there)).containsExactly("Clock", "Health"));
    }

    @Configuration(proxyBeanMethods = false)
    static class LibraryConfiguration {
        @Bean
        @RpcService
        Clock standingClock() {
            return new StandingClock();
        }
    }

    static class StandingClock implements Clock {
        @Override
        public long wallTime() {
            return 0;
        }

        @Override
        public long monotonicTime() {
            return 0;
        }
    }

    @Test
    void beanMethodThatReturnsNullStopsTheStart() {
        provider(NullConfiguration.class)
                .run(there -> assertThat(StartFailures.causeOf(there.getStartupFailure()))
                        .hasMessage("Bean 'nothing' is an @RpcService, but its @Bean method returned null"));
    }

    @Configuration(proxyBeanMethods = false)
    static class ScopedConfiguration {
        @Bean
        @RpcService
        @Scope(value = "prototype", proxyMode = ScopedProxyMode.TARGET_CLASS)
        GreetingService scoped() {
            return name -> "scoped " + name;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class NullConfiguration {
        @Bean
        @RpcService
        @SuppressWarnings("NullAway") // Returns null, as a bean method with a mistake would.
        GreetingService nothing() {
            return null;
        }
    }

    @Test
    void proxiedByTheJdkIsExportedAndItsTransactionsRun() {
        provider(InterfaceProxies.class, TransactionalGreeter.class).run(there -> {
            assertThat(AopUtils.isJdkDynamicProxy(there.getBean(GreetingService.class)))
                    .isTrue();
            assertCallRunsInATransaction(there.getBean(Transactions.class), there);
        });
    }

    private static void assertCallRunsInATransaction(Transactions transactions, ApplicationContext there) {
        consumerOf(there, User.class).run(here -> {
            assertThat(here.getBean(User.class).greetings.greet("x")).isEqualTo("committing x");
            assertThat(transactions.committed).hasValue(1);
        });
    }

    @Test
    void lazyBeanIsMadeAtItsFirstCall() {
        LazyGreeter.made.set(0);

        provider(LazyGreeter.class)
                .run(there -> consumerOf(there, User.class).run(here -> {
                    assertThat(LazyGreeter.made).hasValue(0);

                    assertThat(here.getBean(User.class).greetings.greet("x")).isEqualTo("lazy x");
                    assertThat(here.getBean(User.class).greetings.greet("y")).isEqualTo("lazy y");
                    assertThat(LazyGreeter.made).hasValue(1);
                }));
    }

    @Test
    void factoryMethodWithTheAnnotationIsExported() {
        provider(FactoryMethod.class)
                .run(there -> consumerOf(there, User.class).run(here -> {
                    assertThat(here.getBean(User.class).greetings.greet("x")).isEqualTo("made x");
                }));
    }

    /** Until the factory method of a lazy or prototype bean has run, Spring knows only the interface of the bean. */
    @ParameterizedTest
    @ValueSource(classes = {LazyFactoryMethod.class, PrototypeFactoryMethod.class})
    void factoryMethodThatReturnsAnInterfaceIsExportedBeforeItRuns(Class<?> configuration) {
        provider(configuration)
                .run(there -> consumerOf(there, User.class).run(here -> {
                    assertThat(here.getBean(User.class).greetings.greet("x")).isEqualTo("made x");
                }));
    }

    @ParameterizedTest
    @ValueSource(classes = {FactoryMethod.class, Greeter.class, TransactionalFactoryMethod.class})
    void applicationThatInitializesLazilyServes(Class<?> configuration) {
        lazily(provider(configuration))
                .run(there -> lazily(consumerOf(there, User.class)).run(here -> {
                    assertThat(here.getBean(User.class).greetings.greet("x")).endsWith(" x");
                }));
    }

    /** Makes all beans lazy, as {@code spring.main.lazy-initialization=true} does. */
    private static ApplicationContextRunner lazily(ApplicationContextRunner application) {
        return application
                .withPropertyValues("spring.main.lazy-initialization=true")
                .withInitializer(context ->
                        context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()));
    }

    @Test
    void everyInterfaceExceptJdkAndSpringIsExported() {
        provider(Versatile.class).run(there -> {
            assertThat(there.getBean(RpcServer.class).exports())
                    .extracting(export -> export.service().simpleName())
                    .containsExactlyInAnyOrder("GreetingService", "Shouting", "Health");
        });
    }

    @Test
    void interfacesOfLibrariesAreNotExported() {
        provider(Measured.class).run(there -> assertThat(exported(there)).containsExactly("GreetingService", "Health"));
    }

    @Test
    void classWithOnlyInterfacesOfLibrariesStopsTheStart() {
        provider(OnlyMeasured.class).run(there -> {
            RpcStartException failure = StartFailures.causeOf(there.getStartupFailure());
            assertThat(failure).hasMessageContaining("implements no service interface");
            assertThat(failure.action()).contains("name an interface of a library in @RpcService(interfaces)");
        });
    }

    @Test
    void namedInterfaceOfALibraryIsExported() {
        provider(NamedClock.class).run(there -> assertThat(exported(there)).containsExactly("Clock", "Health"));
    }

    @Test
    void interfaceOfAnApplicationWithThePrefixOfALibraryIsExported() {
        provider(Till.OpenTill.class).run(there -> assertThat(exported(there)).containsExactly("Till", "Health"));
    }

    @Test
    void interfaceOfASampleOfSpringIsExportedAndReferredTo() {
        provider(Vets.Practice.class).run(there -> {
            assertThat(exported(there)).containsExactly("Vets", "Health");
            consumerOf(there, Vets.Visitor.class)
                    .run(here -> assertThat(
                                    here.getBean(Vets.Visitor.class).vets.names())
                            .isEqualTo("Carter, Leary"));
        });
    }

    private static List<String> exported(ApplicationContext there) {
        return there.getBean(RpcServer.class).exports().stream()
                .map(export -> export.service().simpleName())
                .toList();
    }

    @Test
    void namedInterfacesAreExportedInsteadOfAll() {
        provider(OnlyShouting.class).run(there -> {
            assertThat(there.getBean(RpcServer.class).exports())
                    .extracting(export -> export.service().simpleName())
                    .containsExactly("Shouting", "Health");
        });
    }

    @Test
    void groupVersionAndWeightMakeTheExport() {
        provider(SecondGreeter.class).withPropertyValues("tenant=blue").run(there -> {
            ServiceExport export = there.getBean(RpcServer.class).exports().get(0);

            assertThat(export.key()).hasToString("blue/" + GreetingService.class.getName() + ":2.0");
            assertThat(export.weight()).isEqualTo(30);
        });
    }

    @Test
    void groupAndVersionDistinguishProvidersOfAnInterface() {
        provider(Greeter.class, SecondGreeter.class)
                .withPropertyValues("tenant=blue")
                .run(there -> consumerOf(there, BothUser.class).run(here -> {
                    BothUser user = here.getBean(BothUser.class);

                    assertThat(user.first.greet("x")).isEqualTo("Hello x");
                    assertThat(user.second.greet("x")).isEqualTo("second x");
                }));
    }

    @Test
    void unknownVersionIsRefusedWithTheExportedOnes() {
        provider(Greeter.class)
                .run(there -> consumerOf(there, User.class)
                        .withPropertyValues("rpc.client.services.greeting-service.version=9.9")
                        .run(here -> {
                            GreetingService greetings = here.getBean(User.class).greetings;

                            assertThatThrownBy(() -> greetings.greet("x"))
                                    .isInstanceOf(RpcException.class)
                                    .hasMessageContaining(GreetingService.class.getName() + ":9.9");
                        }));
    }

    @Test
    void twoBeansUnderOneKeyStopTheStartAndBothAreNamed() {
        provider(Greeter.class, FactoryMethod.class)
                .run(there -> assertThat(StartFailures.causeOf(there.getStartupFailure()))
                        .hasMessageContaining(GreetingService.class.getName() + " is exported twice")
                        .hasMessageContaining("'greeter'")
                        .hasMessageContaining("'madeGreeter'"));
    }

    @Configuration(proxyBeanMethods = false)
    static class OneClassTwice {
        @Bean
        Annotated found() {
            return new Annotated();
        }

        @Bean
        Annotated made() {
            return new Annotated();
        }
    }

    @Test
    void classThatIsFoundAndMadeByABeanMethodIsExplained() {
        provider(OneClassTwice.class).run(there -> {
            RpcStartException failure = StartFailures.causeOf(there.getStartupFailure());

            assertThat(failure)
                    .hasMessageEndingWith("is exported twice, by the beans 'found' and 'made', which are both of "
                            + Annotated.class.getName());
            assertThat(failure.action()).startsWith("Remove the @Bean method: a class with @RpcService is a bean");
        });
    }

    @Test
    void signatureThatCannotBeSentPreventsStartupAndTheBeanIsNamed() {
        provider(Finder.class)
                .run(there -> assertThat(StartFailures.causeOf(there.getStartupFailure()))
                        .hasMessageContaining("Bean 'rpcServiceTest.Finder' cannot be exported")
                        .hasMessageContaining("Finding.find, result"));
    }

    @Test
    void beanWithoutAServiceInterfaceStopsTheStart() {
        provider(Bare.class)
                .run(there -> assertThat(StartFailures.causeOf(there.getStartupFailure()))
                        .hasMessageContaining("implements no service interface"));
    }

    @Test
    void namedInterfaceThatIsNotImplementedStopsTheStart() {
        provider(Impostor.class)
                .run(there -> assertThat(StartFailures.causeOf(there.getStartupFailure()))
                        .hasMessageContaining("names " + GreetingService.class.getName())
                        .hasMessageContaining("Impostor does not implement"));
    }

    static class User {
        @RpcReference
        GreetingService greetings;
    }

    static class BothUser {
        @RpcReference
        GreetingService first;

        @RpcReference(group = "blue", version = "2.0")
        GreetingService second;
    }

    @RpcService
    static class TransactionalGreeter implements GreetingService {
        @Override
        @Transactional
        public String greet(String name) {
            return "committing " + name;
        }
    }

    static class Transactions implements PlatformTransactionManager {
        final AtomicInteger committed = new AtomicInteger();

        @Override
        public TransactionStatus getTransaction(TransactionDefinition definition) {
            return new SimpleTransactionStatus();
        }

        @Override
        public void commit(TransactionStatus status) {
            committed.incrementAndGet();
        }

        @Override
        public void rollback(TransactionStatus status) {
            throw new UnsupportedOperationException();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement(proxyTargetClass = true)
    static class ClassProxies {
        @Bean
        Transactions transactions() {
            return new Transactions();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement
    static class InterfaceProxies {
        @Bean
        Transactions transactions() {
            return new Transactions();
        }
    }

    @Lazy
    @RpcService
    static class LazyGreeter implements GreetingService {
        static final AtomicInteger made = new AtomicInteger();

        LazyGreeter() {
            made.incrementAndGet();
        }

        @Override
        public String greet(String name) {
            return "lazy " + name;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class FactoryMethod {
        @Bean
        @RpcService
        GreetingService madeGreeter() {
            return name -> "made " + name;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class LazyFactoryMethod {
        @Bean
        @Lazy
        @RpcService
        GreetingService madeGreeter() {
            return name -> "made " + name;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class PrototypeFactoryMethod {
        @Bean
        @Scope("prototype")
        @RpcService
        GreetingService madeGreeter() {
            return name -> "made " + name;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement
    static class TransactionalFactoryMethod {
        @Bean
        Transactions transactions() {
            return new Transactions();
        }

        @Bean
        @RpcService
        GreetingService madeGreeter() {
            return new TransactionalGreeter();
        }
    }

    static class Meters implements MeterBinder {
        @Override
        public void bindTo(MeterRegistry registry) {
            // The interface belongs to Micrometer, so it is not a service.
        }
    }

    @RpcService
    static class Measured extends Meters implements GreetingService, RpcCallback<String> {
        @Override
        public String greet(String name) {
            return name;
        }

        @Override
        public void run(String parameter) {
            // The interface belongs to protobuf, so it is not a service.
        }
    }

    @RpcService
    static class OnlyMeasured extends Meters {}

    @RpcService(interfaces = Clock.class)
    static class NamedClock extends MockClock {}

    interface Shouting {
        String shout(String text);
    }

    interface Marker {}

    @RpcService
    static class Versatile implements GreetingService, Shouting, Marker, Serializable, InitializingBean {
        private static final long serialVersionUID = 1L;

        @Override
        public String greet(String name) {
            return name;
        }

        @Override
        public String shout(String text) {
            return text;
        }

        @Override
        public void afterPropertiesSet() {
            // The interface belongs to Spring, so it is not a service.
        }
    }

    @RpcService(interfaces = {Shouting.class, Shouting.class})
    static class OnlyShouting extends Versatile {
        private static final long serialVersionUID = 1L;
    }

    @RpcService(group = "${tenant}", version = "2.0", weight = 30)
    static class SecondGreeter implements GreetingService {
        @Override
        public String greet(String name) {
            return "second " + name;
        }
    }

    interface Finding {
        Optional<String> find(String name);
    }

    @RpcService
    static class Finder implements Finding {
        @Override
        public Optional<String> find(String name) {
            return Optional.of(name);
        }
    }

    @RpcService
    static class Bare {}

    @RpcService(interfaces = GreetingService.class)
    static class Impostor {}
}
