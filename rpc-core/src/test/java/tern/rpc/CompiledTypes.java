package tern.rpc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.tools.ToolProvider;

/**
 * Compiles types for tests. The types can have the names of library types, so that a test does not need the library on
 * its class path.
 */
public final class CompiledTypes {

    private final ClassLoader loader;

    /** @param sources the source text of each top-level type, by class name */
    public CompiledTypes(Path folder, Map<String, String> sources) {
        List<String> arguments = new ArrayList<>(List.of(
                "-proc:none",
                "-d",
                folder.toString(),
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"))));
        sources.forEach((name, source) -> arguments.add(written(folder, name, source)));
        int result = ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments.toArray(String[]::new));
        if (result != 0) {
            throw new AssertionError("the sources cannot be compiled: " + sources);
        }
        this.loader = new URLClassLoader(new URL[] {url(folder)}, CompiledTypes.class.getClassLoader());
    }

    private static String written(Path folder, String name, String source) {
        int end = name.lastIndexOf('.');
        Path file = folder.resolve(name.replace('.', '/') + ".java");
        try {
            Files.createDirectories(file.getParent());
            Files.writeString(file, "package " + name.substring(0, end) + ";\n" + source);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return file.toString();
    }

    private static URL url(Path folder) {
        try {
            return folder.toUri().toURL();
        } catch (MalformedURLException e) {
            throw new UncheckedIOException(e);
        }
    }

    public Class<?> type(String name) {
        try {
            return Class.forName(name, false, loader);
        } catch (ClassNotFoundException e) {
            throw new AssertionError(e);
        }
    }
}
