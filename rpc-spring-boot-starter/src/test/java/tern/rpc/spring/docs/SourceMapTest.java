package tern.rpc.spring.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Checks that docs/source-map.md names each class of the large packages. */
class SourceMapTest {

    private static final int LARGE = 40;

    private static final Pattern SECTION = Pattern.compile("(?ms)^In `([^`]+)`:\\n(.*?)(?=^## |\\z)");
    private static final Pattern CLASS = Pattern.compile("`(\\w+)`");

    private final Map<String, List<String>> listed = listed();

    @Test
    void eachLargePackageHasASection() {
        Map<String, List<String>> packages =
                Pages.read(Pages.ROOT, file -> file.matches("rpc-[a-z-]+/src/main/java/.*\\.java")).keySet().stream()
                        .collect(Collectors.groupingBy(
                                file -> Pages.name(file.getParent()),
                                TreeMap::new,
                                Collectors.mapping(SourceMapTest::className, Collectors.toList())));
        packages.values().removeIf(classes -> classes.size() <= LARGE);

        assertThat(packages).isNotEmpty();
        assertThat(listed.keySet()).containsAll(packages.keySet());
    }

    @Test
    void sectionsNameEachClassOnce() {
        listed.forEach((folder, classes) -> assertThat(classes)
                .as(folder)
                .containsExactlyInAnyOrderElementsOf(classesIn(Pages.ROOT.resolve(folder))));
    }

    private static Map<String, List<String>> listed() {
        Map<String, List<String>> classes = new TreeMap<>();
        String page = Pages.text(Pages.ROOT.resolve("docs/source-map.md"));
        SECTION.matcher(page)
                .results()
                .forEach(section -> classes.put(
                        section.group(1),
                        CLASS.matcher(section.group(2))
                                .results()
                                .map(name -> name.group(1))
                                .toList()));
        return classes;
    }

    private static List<String> classesIn(Path folder) {
        List<String> classes = new ArrayList<>();
        for (Path file : Pages.read(folder, name -> name.endsWith(".java")).keySet()) {
            if (file.getParent().equals(folder) && !file.endsWith("package-info.java")) {
                classes.add(className(file));
            }
        }
        return classes;
    }

    private static String className(Path file) {
        return file.getFileName().toString().replace(".java", "");
    }
}
