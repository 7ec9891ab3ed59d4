package example;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Compares the code shown on a page with the test sources that run this code. */
final class ShownCode {

    private static final Path SOURCES = Path.of("src", "test", "java");
    private static final Pattern BLOCK = Pattern.compile("```java\n(package (\\S+);.*?)```", Pattern.DOTALL);
    private static final Pattern TYPE = Pattern.compile("(?:class|interface) (\\w+)");

    private ShownCode() {}

    /**
     * Checks that each code block with a package declaration equals the source file of the declared type. Returns the
     * types in the order in which the page shows them.
     */
    static List<String> typesOf(Path page) throws IOException {
        List<String> shown = new ArrayList<>();
        Matcher block = BLOCK.matcher(Files.readString(page));
        while (block.find()) {
            Matcher type = TYPE.matcher(block.group(1));
            assertThat(type.find()).isTrue();
            Path source = SOURCES.resolve(block.group(2).replace('.', '/')).resolve(type.group(1) + ".java");
            assertThat(source).content().isEqualTo(block.group(1));
            shown.add(type.group(1));
        }
        return shown;
    }
}
