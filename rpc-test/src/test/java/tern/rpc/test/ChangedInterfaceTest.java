package tern.rpc.test;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.io.DefaultResourceLoader;
import tern.rpc.RpcException;

/**
 * Makes calls over each protocol to a provider with a newer version of the interface. The results must match the table
 * in docs/calls.md.
 */
@Timeout(240)
class ChangedInterfaceTest {

    private static final Path SOURCES = Path.of("src", "test", "resources", "changed-interface");
    private static final List<String> PROTOCOLS = List.of("dubbo", "tri", "http");

    @TempDir
    Path folder;

    @Test
    void changesHaveTheDocumentedEffectOnOlderCallers() throws Exception {
        Map<String, List<String>> results = new LinkedHashMap<>();
        try (URLClassLoader before = compiled("before");
                URLClassLoader after = compiled("after");
                ConfigurableApplicationContext provider = start(after, "shop.Provider", "--rpc.server.port=0")) {
            String port = provider.getEnvironment().getProperty("local.rpc.port");
            for (String protocol : PROTOCOLS) {
                try (ConfigurableApplicationContext caller = start(
                        before,
                        "shop.Caller",
                        "--rpc.client.url=" + protocol + "://127.0.0.1:" + port,
                        "--rpc.client.timeout=1m")) {
                    callsOf(caller, before.loadClass("shop.Caller"))
                            .forEach((change, call) -> results.computeIfAbsent(change, key -> new ArrayList<>())
                                    .add(resultOf(call)));
                }
            }
        }

        String table = results.entrySet().stream()
                .map(row -> "| " + row.getKey() + " | " + String.join(" | ", row.getValue()) + " |\n")
                .collect(Collectors.joining());
        assertThat(Files.readString(Path.of("..", "docs", "calls.md"))).contains(table);
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Callable<String>> callsOf(ConfigurableApplicationContext context, Class<?> caller) {
        return ((Supplier<Map<String, Callable<String>>>) context.getBean(caller)).get();
    }

    private static String resultOf(Callable<String> call) {
        try {
            return call.call();
        } catch (RpcException e) {
            String ran = e.wasExecuted().name().toLowerCase(Locale.ROOT);
            return "fails with " + e.code() + ", executed: " + ran;
        } catch (Exception e) {
            return "fails with `" + e.getClass().getSimpleName() + "`";
        }
    }

    private URLClassLoader compiled(String version) throws IOException {
        Path classes = Files.createDirectories(folder.resolve(version));
        List<String> options = new ArrayList<>(List.of(
                "-proc:none",
                "-parameters",
                "-d",
                classes.toString(),
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"))));
        try (Stream<Path> sources = Files.walk(SOURCES.resolve(version))) {
            sources.map(Path::toString).filter(name -> name.endsWith(".java")).forEach(options::add);
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        assertThat(compiler.run(null, null, null, options.toArray(String[]::new)))
                .isZero();
        return new URLClassLoader(new URL[] {classes.toUri().toURL()}, ChangedInterfaceTest.class.getClassLoader());
    }

    private static ConfigurableApplicationContext start(ClassLoader loader, String type, String... arguments)
            throws ClassNotFoundException {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(loader);
        try {
            return new SpringApplicationBuilder(loader.loadClass(type))
                    .resourceLoader(new DefaultResourceLoader(loader))
                    .web(WebApplicationType.NONE)
                    .registerShutdownHook(false)
                    .run(arguments);
        } finally {
            thread.setContextClassLoader(before);
        }
    }
}
