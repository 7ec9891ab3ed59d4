package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.aot.AotDetector;
import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.generate.DefaultGenerationContext;
import org.springframework.aot.generate.GeneratedFiles.Kind;
import org.springframework.aot.generate.InMemoryGeneratedFiles;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.io.InputStreamSource;
import org.springframework.javapoet.ClassName;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;
import tern.rpc.spring.autoconfigure.actuate.RpcActuatorAutoConfiguration;
import tern.rpc.spring.autoconfigure.pool.RpcPoolsAutoConfiguration;

/**
 * Tests an application context that is processed ahead of time and then started on the JVM. Also tests the hints for a
 * native image.
 */
class RpcAotTest {

    @TempDir
    private Path folder;

    /** This class contains a single test, because the generated classes stay loaded and would affect other tests. */
    @Test
    void preparedContextServesAndCallsAndHasHintsForItsInterfaces() throws Exception {
        InMemoryGeneratedFiles files = new InMemoryGeneratedFiles();
        RuntimeHints hints = new RuntimeHints();
        ClassName initializer = prepare(Application.class, files, hints);
        compile(files);

        Applications.provider(Greeter.class).run(provider -> {
            GenericApplicationContext prepared = start(
                    initializer,
                    "rpc.server.port=0",
                    "rpc.client.url=" + Applications.addressOf(provider),
                    "rpc.client.timeout=1m",
                    "rpc.pools.executors.bind.threads=3");

            assertThat(prepared.getBean(User.class).field.greet("x")).isEqualTo("Hello x");
            assertThat(prepared.getBean(User.class).parameter.greet("y")).isEqualTo("Hello y");
            assertThat(prepared.getBean(User.class).provider.getObject().greet("p"))
                    .isEqualTo("Hello p");
            assertThat(prepared.getBean(User.class).counter).isNotNull();
            assertThat(prepared.getBean(String.class)).isEqualTo("Hello z");
            assertThat(prepared.getBean("bind", ThreadPoolExecutor.class).getMaximumPoolSize())
                    .isEqualTo(3);
            Applications.consumerOf(prepared, User.class)
                    .run(consumer -> assertThat(
                                    consumer.getBean(User.class).field.greet("back"))
                            .isEqualTo("Hello back"));
            prepared.close();
        });

        assertThat(RuntimeHintsPredicates.proxies().forInterfaces(GreetingService.class))
                .accepts(hints);
        assertThat(RuntimeHintsPredicates.proxies().forInterfaces(CounterService.class))
                .accepts(hints);
        assertThat(RuntimeHintsPredicates.reflection().onType(GreetingService.class))
                .accepts(hints);
        assertThat(RuntimeHintsPredicates.reflection().onType(CounterService.class))
                .accepts(hints);
        assertThat(RuntimeHintsPredicates.reflection().onType(Doubling.class)).accepts(hints);
    }

    private static ClassName prepare(Class<?> configuration, InMemoryGeneratedFiles files, RuntimeHints hints) {
        DefaultGenerationContext generation =
                new DefaultGenerationContext(new ClassNameGenerator(ClassName.get(configuration)), files, hints);
        try (AnnotationConfigApplicationContext source = new AnnotationConfigApplicationContext()) {
            TestPropertyValues.of("rpc.pools.executors.bind.threads=2").applyTo(source);
            source.register(configuration);
            ClassName initializer = new ApplicationContextAotGenerator().processAheadOfTime(source, generation);
            generation.writeGeneratedContent();
            return initializer;
        }
    }

    /** Compiles the generated sources into the packages of the classes for which they were generated. */
    private void compile(InMemoryGeneratedFiles files) throws Exception {
        List<String> arguments = new ArrayList<>(List.of("-nowarn", "-proc:none", "-d", folder.toString(), "-cp"));
        arguments.add(System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
        for (Map.Entry<String, InputStreamSource> source :
                files.getGeneratedFiles(Kind.SOURCE).entrySet()) {
            Path file = folder.resolve(source.getKey());
            Files.createDirectories(file.getParent());
            Files.copy(source.getValue().getInputStream(), file);
            arguments.add(file.toString());
        }
        assertThat(ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments.toArray(String[]::new)))
                .isZero();
        try (Stream<Path> compiled = Files.walk(folder)) {
            compiled.filter(file -> file.toString().endsWith(".class")).forEach(this::define);
        }
    }

    private void define(Path file) {
        String name = folder.relativize(file).toString().replace('/', '.').replace(".class", "");
        try {
            Class<?> neighbour =
                    Class.forName(name.substring(0, name.indexOf("__")).replace('_', '$'));
            MethodHandles.privateLookupIn(neighbour, MethodHandles.lookup()).defineClass(Files.readAllBytes(file));
        } catch (ClassNotFoundException | IllegalAccessException e) {
            throw new IllegalStateException(name, e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Starts the context in the same way as Spring with {@code -Dspring.aot.enabled=true}. */
    @SuppressWarnings("unchecked")
    private static GenericApplicationContext start(ClassName initializer, String... properties) throws Exception {
        GenericApplicationContext context = new GenericApplicationContext();
        TestPropertyValues.of(properties).applyTo(context);
        System.setProperty(AotDetector.AOT_ENABLED, "true");
        try {
            ((ApplicationContextInitializer<GenericApplicationContext>) Class.forName(initializer.reflectionName())
                            .getDeclaredConstructor()
                            .newInstance())
                    .initialize(context);
            context.refresh();
        } finally {
            System.clearProperty(AotDetector.AOT_ENABLED);
        }
        return context;
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({
        RpcAutoConfiguration.class,
        RpcMetricsAutoConfiguration.class,
        RpcClientAutoConfiguration.class,
        RpcServerAutoConfiguration.class,
        RpcPoolsAutoConfiguration.class,
        RpcActuatorAutoConfiguration.class
    })
    @Import({Greeter.class, User.class})
    static class Application {
        @Bean
        String greeting(@RpcReference GreetingService greetings) {
            return greetings.greet("z");
        }

        /** Ahead-of-time processing knows only the interface of this bean, not its class. */
        @Bean
        @RpcService
        Doubling doubling() {
            return number -> 2 * number;
        }
    }

    interface Doubling {
        int twice(int number);
    }

    static class User {
        @RpcReference
        GreetingService field;

        @RpcReference
        ObjectProvider<GreetingService> provider;

        final GreetingService parameter;
        CounterService counter;

        User(@RpcReference GreetingService parameter) {
            this.parameter = parameter;
        }

        @RpcReference
        void setCounter(CounterService counter) {
            this.counter = counter;
        }
    }
}
