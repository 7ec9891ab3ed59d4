package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.OutputStream;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tern.rpc.transport.TestAuthority;
import tern.rpc.transport.Tls;

/** Compiles and runs the source files of docs/plain-java.md. */
@Timeout(120)
class PlainJavaTest {

    private static final Path PAGE = Path.of("..", "docs", "plain-java.md");
    private static final Pattern FILE = Pattern.compile("`([\\w/]+\\.java)`\n\n```java\n(.*?)```", Pattern.DOTALL);
    private static final char[] PASSWORD = "secret".toCharArray();

    @TempDir
    Path folder;

    private @Nullable ClassLoader classes;

    @BeforeEach
    void compile() throws Exception {
        List<String> arguments = new ArrayList<>(List.of(
                "-proc:none",
                "-parameters",
                "-d",
                folder.toString(),
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"))));
        Matcher file = FILE.matcher(Files.readString(PAGE));
        while (file.find()) {
            Path path = folder.resolve(file.group(1));
            Files.createDirectories(path.getParent());
            Files.writeString(path, file.group(2));
            arguments.add(path.toString());
        }
        assertThat(ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments.toArray(String[]::new)))
                .isZero();
        classes = new URLClassLoader(new URL[] {folder.toUri().toURL()}, PlainJavaTest.class.getClassLoader());
    }

    @Test
    void clientCallsTheServerOnEveryProtocol() throws Exception {
        assertGreeted(null, null);
    }

    @Test
    void clientCallsTheServerOnEveryProtocolOverTls() throws Exception {
        TestAuthority.Identity identity = new TestAuthority("plain").issue("server", "127.0.0.1");
        KeyStore own = store();
        own.setKeyEntry("server", identity.key(), PASSWORD, new Certificate[] {identity.certificate()});
        KeyStore trusted = store();
        trusted.setCertificateEntry("server", identity.certificate());

        assertGreeted(tls("ofServer", own), tls("ofClient", trusted));
    }

    private void assertGreeted(@Nullable Supplier<Tls> server, @Nullable Supplier<Tls> client) throws Exception {
        try (AutoCloseable serving = (AutoCloseable) type("GreetingServer")
                        .getConstructor(int.class, Supplier.class)
                        .newInstance(0, server);
                AutoCloseable calling = (AutoCloseable)
                        type("GreetingClient").getConstructor(Supplier.class).newInstance(client)) {
            Object port = serving.getClass().getMethod("port").invoke(serving);
            for (String protocol : List.of("dubbo", "tri", "http")) {
                Object greetings = calling.getClass()
                        .getMethod("greetings", String.class, int.class)
                        .invoke(calling, protocol, port);
                assertThat(type("Greetings").getMethod("greet", String.class).invoke(greetings, "Ada"))
                        .as(protocol)
                        .isEqualTo("Good morning, Ada");
            }
        }
    }

    private Class<?> type(String name) throws ClassNotFoundException {
        return Class.forName("example." + name, true, classes);
    }

    private static KeyStore store() throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }

    private Supplier<Tls> tls(String method, KeyStore store) throws Exception {
        Path file = folder.resolve(method + ".p12");
        try (OutputStream out = Files.newOutputStream(file)) {
            store.store(out, PASSWORD);
        }
        Class<?> keys = type("Keys");
        return () -> {
            try {
                return (Tls) keys.getMethod(method, Path.class, char[].class).invoke(null, file, PASSWORD);
            } catch (NoSuchMethodException | IllegalAccessException | InvocationTargetException e) {
                throw new AssertionError(e);
            }
        };
    }
}
