package tern.rpc.spring.docs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Reads the project's pages and sources, starting at the project's root folder. */
final class Pages {

    static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    private Pages() {}

    /** Returns all pages by path. */
    static Map<Path, String> all() {
        Map<Path, String> pages = read(ROOT.resolve("docs"), file -> file.endsWith(".md"));
        for (String name : List.of("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")) {
            pages.put(ROOT.resolve(name), text(ROOT.resolve(name)));
        }
        pages.put(ROOT.resolve("load-tests/interop/README.md"), text(ROOT.resolve("load-tests/interop/README.md")));
        return pages;
    }

    /**
     * Reads each file under the folder if the predicate accepts the file's path. Paths are relative to the project's
     * root folder. Files that builds and tools have created are skipped.
     */
    static Map<Path, String> read(Path folder, Predicate<String> chosen) {
        try (Stream<Path> files = Files.walk(folder)) {
            Map<Path, String> texts = new TreeMap<>();
            files.filter(Files::isRegularFile)
                    .filter(file -> !name(file).matches("(.*/)?(target|node_modules|\\.[^/]+)/.*"))
                    .filter(file -> chosen.test(name(file)))
                    .forEach(file -> texts.put(file, text(file)));
            return texts;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static String name(Path file) {
        return ROOT.relativize(file).toString().replace('\\', '/');
    }
}
