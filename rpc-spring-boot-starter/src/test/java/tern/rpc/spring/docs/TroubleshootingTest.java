package tern.rpc.spring.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Checks that every message in docs/troubleshooting.md occurs in the sources. */
class TroubleshootingTest {

    private static final Pattern MESSAGE = Pattern.compile("(?m)^\\| `([^`]+)` \\| (.+) \\| (.+) \\|$");

    /**
     * Matches the text between two string literals that are joined across a line break. The code formatter splits long
     * messages like this.
     */
    private static final Pattern JOINED = Pattern.compile("\"\\s*\\+ \"");

    @Test
    void messagesOccurInTheSources() {
        String sources = sources();
        List<String> unknown = new ArrayList<>();
        for (String message : messages()) {
            constantParts(message).stream()
                    .filter(part -> !sources.contains(part))
                    .forEach(part -> unknown.add(message + ": \"" + part + "\" is in no source"));
        }

        assertThat(unknown).isEmpty();
    }

    @Test
    void messagesHaveAPartLongEnoughToSearchFor() {
        assertThat(messages()).hasSizeGreaterThan(40).doesNotHaveDuplicates();
        assertThat(messages())
                .allSatisfy(message ->
                        assertThat(constantParts(message)).as(message).anyMatch(part -> part.length() >= 12));
    }

    private static List<String> messages() {
        Matcher rows = MESSAGE.matcher(Pages.text(Pages.ROOT.resolve("docs/troubleshooting.md")));
        return rows.results().map(row -> row.group(1)).toList();
    }

    /** Returns the constant parts of a message. On the page, an ellipsis replaces each variable part. */
    private static List<String> constantParts(String message) {
        return Arrays.stream(message.split("…"))
                .map(String::strip)
                .filter(part -> part.length() > 2)
                .toList();
    }

    private static String sources() {
        return Pages.read(Pages.ROOT, name -> name.endsWith(".java")).entrySet().stream()
                .filter(file -> Pages.name(file.getKey()).contains("src/main/"))
                .map(file -> JOINED.matcher(file.getValue()).replaceAll(""))
                .collect(Collectors.joining("\n"));
    }
}
