package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/** Tests services and references in the kinds of beans that are common in Spring applications. */
class ServiceShapesTest {

    @RpcService
    @Scope("prototype")
    static class CreatedForEachCall implements GreetingService {
        private int calls;

        @Override
        public String greet(String name) {
            return name + ++calls;
        }
    }

    @RpcService
    static final class FinalGreeter implements GreetingService {
        @Override
        public String greet(String name) {
            return "Hello " + name;
        }
    }

    @RpcService
    record RecordGreeter() implements GreetingService {
        @Override
        public String greet(String name) {
            return "Hello " + name;
        }
    }

    @RpcService
    static class CachedGreeter implements GreetingService {
        private int calls;

        @Override
        @Cacheable("greetings")
        public String greet(String name) {
            return name + ++calls;
        }
    }

    @Configuration
    @EnableCaching
    static class Caching {
        @Bean
        ConcurrentMapCacheManager cacheManager() {
            return new ConcurrentMapCacheManager();
        }
    }

    @RpcService
    static class Recursive implements GreetingService {
        @RpcReference
        GreetingService itself;

        @Override
        public String greet(String name) {
            return name.isEmpty() ? "end" : itself.greet(name.substring(1));
        }
    }

    static class Visitor {
        @RpcReference
        GreetingService greetings;
    }

    static class VisitorOfASuperclass extends Visitor {}

    static class First {
        @RpcReference
        GreetingService greetings;

        @Autowired
        Second second;
    }

    static class Second {
        @Autowired
        First first;
    }

    static class InAFactory implements FactoryBean<Visitor> {
        @RpcReference
        GreetingService greetings;

        @Override
        public Visitor getObject() {
            Visitor made = new Visitor();
            made.greetings = greetings;
            return made;
        }

        @Override
        public Class<?> getObjectType() {
            return Visitor.class;
        }
    }

    static class StaticHolder {
        static GreetingService greetings;

        @RpcReference
        void setGreetings(GreetingService injected) {
            greetings = injected;
        }
    }

    static class Listener implements SmartLifecycle {
        final List<String> answers = new ArrayList<>();

        @RpcReference
        GreetingService greetings;

        private boolean running;

        @EventListener(ContextRefreshedEvent.class)
        void refreshed() {
            answers.add(greetings.greet("refreshed"));
        }

        @Override
        public void start() {
            running = true;
            answers.add(greetings.greet("started"));
        }

        @Override
        public void stop() {
            running = false;
        }

        @Override
        public boolean isRunning() {
            return running;
        }
    }

    @Configuration
    @EnableScheduling
    static class Job {
        final CompletableFuture<String> answer = new CompletableFuture<>();

        @RpcReference
        GreetingService greetings;

        @Scheduled(fixedDelay = 3_600_000)
        void run() {
            answer.complete(greetings.greet("job"));
        }
    }

    private static ApplicationContextRunner calling(Class<?>... beans) {
        return provider(beans).withPropertyValues("rpc.client.url=local");
    }

    @Test
    void serviceOfScopePrototypeIsCreatedForEachCall() {
        calling(CreatedForEachCall.class, Visitor.class).run(there -> {
            GreetingService greetings = there.getBean(Visitor.class).greetings;

            assertThat(List.of(greetings.greet("a"), greetings.greet("b"))).containsExactly("a1", "b1");
        });
    }

    @ParameterizedTest
    @ValueSource(classes = {FinalGreeter.class, RecordGreeter.class})
    void serviceMayBeAFinalClassOrARecord(Class<?> service) {
        calling(service, Visitor.class)
                .run(there -> assertThat(there.getBean(Visitor.class).greetings.greet("Ada"))
                        .isEqualTo("Hello Ada"));
    }

    @Test
    void resultOfACachedMethodComesFromTheCache() {
        calling(CachedGreeter.class, Caching.class, Visitor.class).run(there -> {
            GreetingService greetings = there.getBean(Visitor.class).greetings;

            assertThat(List.of(greetings.greet("a"), greetings.greet("a"))).containsExactly("a1", "a1");
        });
    }

    @Test
    void serviceMayCallItself() {
        calling(Recursive.class, Visitor.class)
                .run(there -> assertThat(there.getBean(Visitor.class).greetings.greet("abc"))
                        .isEqualTo("end"));
    }

    @ParameterizedTest
    @ValueSource(classes = {VisitorOfASuperclass.class, InAFactory.class})
    void referenceOfASuperclassOrAFactoryBeanIsInjected(Class<?> holder) {
        calling(Greeter.class, holder)
                .run(there -> assertThat(there.getBean(Visitor.class).greetings.greet("Ada"))
                        .isEqualTo("Hello Ada"));
    }

    @Test
    void beansThatReferToEachOtherGetTheirReferences() {
        calling(Greeter.class, First.class, Second.class)
                .withAllowCircularReferences(true)
                .run(there -> assertThat(
                                there.getBean(Second.class).first.greetings.greet("Ada"))
                        .isEqualTo("Hello Ada"));
    }

    @Test
    void setterMayKeepTheReferenceInAStaticField() {
        calling(Greeter.class, StaticHolder.class)
                .run(there -> assertThat(StaticHolder.greetings.greet("Ada")).isEqualTo("Hello Ada"));
    }

    @Test
    void referencesAreUsableInLifecycleBeansAndListeners() {
        calling(Greeter.class, Listener.class)
                .run(there -> assertThat(there.getBean(Listener.class).answers)
                        .containsExactly("Hello started", "Hello refreshed"));
    }

    @Test
    void referencesAreUsableInScheduledMethods() {
        calling(Greeter.class, Job.class)
                .run(there -> assertThat(there.getBean(Job.class).answer.get(1, TimeUnit.MINUTES))
                        .isEqualTo("Hello job"));
    }
}
