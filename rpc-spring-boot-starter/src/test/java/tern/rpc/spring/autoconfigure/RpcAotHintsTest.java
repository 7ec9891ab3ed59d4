package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collection;
import java.util.function.Consumer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.generate.DefaultGenerationContext;
import org.springframework.aot.generate.InMemoryGeneratedFiles;
import org.springframework.aot.hint.JdkProxyHint;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.TypeReference;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.javapoet.ClassName;
import tern.rpc.spring.RpcReference;

/** Tests that ahead-of-time processing finds the service of every kind of injection point. */
class RpcAotHintsTest {

    @ParameterizedTest
    @ValueSource(
            classes = {
                InjectionShapesTest.Held.class,
                InjectionShapesTest.Named.class,
                InjectionShapesTest.FieldUser.class,
                InjectionShapesTest.SetterUser.class,
                InjectionShapesTest.ParameterUser.class,
                OnlyProvider.class,
                ProviderParameter.class,
            })
    void serviceOfEveryInjectionPointGetsItsProxy(Class<?> bean) {
        RuntimeHints hints = hintsOf(bean);

        assertThat(RuntimeHintsPredicates.proxies().forInterfaces(GreetingService.class))
                .accepts(hints);
        assertThat(RuntimeHintsPredicates.reflection().onType(GreetingService.class))
                .accepts(hints);
        assertThat(proxied(hints)).doesNotContain(TypeReference.of(ObjectProvider.class));
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                InjectionShapesTest.ManyUser.class,
                InjectionShapesTest.MapUser.class,
                InjectionShapesTest.ArrayUser.class,
                RawUser.class,
                CallbackUser.class,
            })
    void injectionPointThatTheStartRefusesDoesNotStopTheBuild(Class<?> bean) {
        assertThat(proxied(hintsOf(bean))).doesNotContain(TypeReference.of(GreetingService.class));
    }

    private static Collection<TypeReference> proxied(RuntimeHints hints) {
        return hints.proxies()
                .jdkProxyHints()
                .map(JdkProxyHint::getProxiedInterfaces)
                .flatMap(Collection::stream)
                .toList();
    }

    private static RuntimeHints hintsOf(Class<?> bean) {
        RuntimeHints hints = new RuntimeHints();
        DefaultGenerationContext generation = new DefaultGenerationContext(
                new ClassNameGenerator(ClassName.get(RpcAotHintsTest.class)), new InMemoryGeneratedFiles(), hints);
        try (AnnotationConfigApplicationContext source = new AnnotationConfigApplicationContext()) {
            source.register(
                    bean,
                    RpcAutoConfiguration.class,
                    RpcMetricsAutoConfiguration.class,
                    RpcClientAutoConfiguration.class);
            new ApplicationContextAotGenerator().processAheadOfTime(source, generation);
        }
        return hints;
    }

    static class OnlyProvider {
        @RpcReference
        ObjectProvider<GreetingService> objects;
    }

    static class ProviderParameter {
        ProviderParameter(@RpcReference ObjectProvider<GreetingService> objects) {}
    }

    static class RawUser {
        @RpcReference
        @SuppressWarnings("rawtypes")
        ObjectProvider objects;
    }

    interface Callbacks {
        void each(Consumer<String> element);
    }

    static class CallbackUser {
        @RpcReference
        Callbacks callbacks;
    }
}
