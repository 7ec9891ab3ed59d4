package tern.rpc.test.packed;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.loader.tools.Library;
import org.springframework.boot.loader.tools.LibraryScope;
import org.springframework.boot.loader.tools.Repackager;

/** Tests an application that runs from one executable jar with nested library jars. */
@Timeout(240)
class FatJarTest {

    /** Matches the names of jars needed only by tests. */
    private static final Pattern OF_TESTS = Pattern.compile(
            "(?i).*(junit|surefire|mockito|byte-buddy|assertj|testcontainers|docker|loader-tools|jna).*");

    private static final String OWN_PACKAGE =
            PackedApplication.class.getPackageName().replace('.', '/');

    @TempDir
    Path folder;

    @Test
    void packedApplicationServesAndCalls() throws Exception {
        Path jar = pack();

        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-jar",
                        jar.toString())
                .redirectErrorStream(true)
                .start();
        String output;
        try {
            output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        } finally {
            process.destroyForcibly();
        }

        assertThat(output)
                .containsPattern("(?s)(cooked Dish\\[name=soup, spices=\\[salt]].*){3}")
                .containsPattern("from \\S*" + jar.getFileName());
    }

    private Path pack() throws Exception {
        Path application = folder.resolve("application.jar");
        Path testClasses = Path.of(FatJarTest.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        jar(testClasses, application, name -> name.startsWith(OWN_PACKAGE + "/PackedApplication"));
        List<Library> libraries = new ArrayList<>();
        for (String element : System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"))
                .split(File.pathSeparator)) {
            Path path = Path.of(element);
            if (Files.isDirectory(path) && !path.endsWith("test-classes")) {
                Path packed = folder.resolve("classes-" + libraries.size() + ".jar");
                jar(path, packed, name -> true);
                libraries.add(new Library(packed.toFile(), LibraryScope.COMPILE));
            } else if (element.endsWith(".jar")
                    && !OF_TESTS.matcher(path.getFileName().toString()).matches()) {
                libraries.add(new Library(path.toFile(), LibraryScope.COMPILE));
            }
        }
        Repackager repackager = new Repackager(application.toFile());
        repackager.setMainClass(PackedApplication.class.getName());
        repackager.setBackupSource(false);
        Path fat = folder.resolve("fat.jar");
        repackager.repackage(fat.toFile(), callback -> {
            for (Library library : libraries) {
                callback.library(library);
            }
        });
        return fat;
    }

    private static void jar(Path classes, Path jar, Predicate<String> wanted) throws IOException {
        try (OutputStream file = Files.newOutputStream(jar);
                JarOutputStream entries = new JarOutputStream(file);
                Stream<Path> paths = Files.walk(classes)) {
            for (Path path : paths.filter(Files::isRegularFile).toList()) {
                String name = classes.relativize(path).toString().replace(File.separatorChar, '/');
                if (wanted.test(name)) {
                    entries.putNextEntry(new JarEntry(name));
                    Files.copy(path, entries);
                    entries.closeEntry();
                }
            }
        }
    }
}
